"""Memory and open files do not grow with the input."""

import pytest
from command import contents
from harness import NLPTX, SCALE, broken, end, start, torture, write_corpus
from tally import Tally
from watch import Watch, needs_proc

pytestmark = needs_proc
TIMES = 16
MOST_FILES = 64
# Bytes of the smaller input.
AMOUNTS = [pytest.param(500_000, id="quick"), torture(max(500_000, round(4_000_000 * SCALE)), id="full")]


@pytest.fixture
def tally(request):
    return Tally(request, "memory")


def measure(words, tally, text=None, nlptx=NLPTX):
    """Run a command, with a file or with ``text`` on standard input, and return what it took."""
    tally.ran()
    if text is None:
        process = start(*words, nlptx=nlptx)
    else:
        with open(text, "rb") as file:
            process = start(*words, nlptx=nlptx, stdin=file)
    with Watch(process) as watch:
        done = end(process)
    assert done.code == 0, done.stderr
    assert watch.looks > 10
    return watch


def padded(path, size, seed):
    """A corpus of long lines with few words, so that a large one is soon read."""
    return write_corpus(path, size, seed=seed, longest=8, padding=" " + "x" * 1000)


def compare(small, large, growth, tally, what):
    """Fail if the larger run had too many files, or took half as much more as its input is larger (in MB)."""
    took = f"{small.megabytes:.0f} MB, {large.megabytes:.0f} MB for {TIMES} times the input"
    tally.note(f"{what}: {took}; at most {large.files} files open")
    assert large.files < MOST_FILES, f"{large.files} files open"
    assert large.megabytes < small.megabytes + growth / 2, took


def check_predict(amount, way, stages, folder, tally, nlptx=NLPTX):
    runs = []
    for size in (amount, TIMES * amount):
        text = padded(folder / f"{size}.txt", size, seed=6)
        _, _, *model = stages["predict"].words
        words = ("predict", "-" if way == "pipe" else text, *model, "-q", "-o", folder / "scores.tsv")
        runs.append(measure(words, tally, text if way == "pipe" else None, nlptx))
        (folder / "scores.tsv").unlink()
        text.unlink()
    assert contents(folder) == {}
    compare(*runs, growth=(TIMES - 1) * amount / 1e6, tally=tally, what=f"predict, {way}")


@pytest.mark.parametrize("way", ["file", "pipe"])
@pytest.mark.parametrize("amount", AMOUNTS)
def test_predict_takes_no_more_for_a_larger_input(amount, way, stages, tmp_path, tally):
    check_predict(amount, way, stages, tmp_path, tally)


# ---------------------------------------------------------------- the tests notice


def test_a_reader_that_keeps_all_text_is_noticed(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="MB"):
        check_predict(500_000, "file", stages, tmp_path, tally, nlptx=broken("hoarding"))


def test_open_files_are_noticed(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="files open"):
        check_predict(500_000, "file", stages, tmp_path, tally, nlptx=broken("careless"))
