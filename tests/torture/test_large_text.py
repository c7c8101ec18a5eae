"""Tests with extremely large texts: a line of 100 MB, three million empty lines, a million words that occur once."""

import pytest
from harness import SCALE, finish, torture
from tally import Tally

BLOCKS = max(1, round(100 * SCALE))


@pytest.fixture
def tally(request):
    return Tally(request, "large texts")


def write_repeated(path, block, count):
    with open(path, "wb") as file:
        for _ in range(count):
            file.write(block)
    return path


LINE = b"great film of this story and that one awful scene " * 20_000
CORPORA = {
    "one line": (LINE, BLOCKS),
    "empty lines": (b"\n" * 30_000, BLOCKS),
    "single words": (None, BLOCKS),
}


@pytest.mark.parametrize("name", [torture(name, id=name) for name in CORPORA])
@pytest.mark.parametrize("command", ["cooccur", "predict"])
def test_large_text_is_processed(command, name, tmp_path, tally):
    block, count = CORPORA[name]
    path = tmp_path / "a.txt"
    if block is None:
        path.write_text("".join(f"{number:x}z " + "\n" * (number % 9 == 0) for number in range(10_000 * count)))
    else:
        write_repeated(path, block, count)
        with open(path, "ab") as file:
            file.write(b"\ngreat film\n")
    tally.injected()
    out = tmp_path / "out"
    words = ("cooccur", path, "--min-count", "1", "--max-words", "1000") if command == "cooccur" else ("predict", path)
    finish(*words, "-q", "-o", out)
    assert out.stat().st_size > 0
    if command == "predict":
        with open(path, "rb") as given, open(out, "rb") as got:
            assert sum(1 for _ in given) == sum(1 for _ in got)
    tally.survived()
