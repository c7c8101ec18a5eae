"""Memory and open files do not grow with the input."""

import pytest
from command import NLPTX, contents
from harness import broken, write_corpus
from tally import Tally
from watch import AMOUNTS, MOST_FILES, TIMES, measure, needs_proc

pytestmark = needs_proc


@pytest.fixture
def tally(request):
    return Tally(request, "memory")


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
        words = ("predict", "-" if way == "pipe" else text, *model, "-q", "-o", folder / "scores.txt")
        runs.append(measure(words, tally, text if way == "pipe" else None, nlptx))
        (folder / "scores.txt").unlink()
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
        check_predict(1_000_000, "file", stages, tmp_path, tally, nlptx=broken("hoarding"))


def test_open_files_are_noticed(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="files open"):
        check_predict(500_000, "file", stages, tmp_path, tally, nlptx=broken("careless"))
