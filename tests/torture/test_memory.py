"""Memory usage and the number of open files do not grow with the size of the input."""

import pytest
from command import NLPTX, contents
from harness import broken, write_corpus
from tally import Tally
from watch import MAX_FILES, SIZE, TIMES, measure, needs_proc

pytestmark = needs_proc


@pytest.fixture
def tally(request):
    return Tally(request, "memory")


def padded(path, size, seed):
    """Write a corpus of long lines with only a few words, so that even a large corpus is quick to process."""
    return write_corpus(path, size, seed=seed, longest=8, padding=" " + "x" * 1000)


def compare(small, large, growth, tally, what):
    """Fail if the run on the large input opened too many files, or used much more memory than that on the small input.

    The memory must differ by less than half of ``growth``, the difference between the two input sizes in MB.
    """
    usage = f"{small.megabytes:.0f} MB, {large.megabytes:.0f} MB for {TIMES} times the input"
    tally.note(f"{what}: {usage}; at most {large.files} files open")
    assert large.files < MAX_FILES, f"{large.files} files open"
    assert large.megabytes < small.megabytes + growth / 2, usage


def check_predict(amount, source, stages, folder, tally, nlptx=NLPTX):
    runs = []
    for size in (amount, TIMES * amount):
        text = padded(folder / f"{size}.txt", size, seed=6)
        _, _, *model = stages["predict"].words
        words = ("predict", "-" if source == "pipe" else text, *model, "-q", "-o", folder / "scores.txt")
        runs.append(measure(words, tally, text if source == "pipe" else None, nlptx))
        (folder / "scores.txt").unlink()
        text.unlink()
    assert contents(folder) == {}
    compare(*runs, growth=(TIMES - 1) * amount / 1e6, tally=tally, what=f"predict, {source}")


@pytest.mark.torture
@pytest.mark.parametrize("source", ["file", "pipe"])
def test_memory_of_predict_does_not_grow_with_the_input(source, stages, tmp_path, tally):
    check_predict(SIZE, source, stages, tmp_path, tally)


# ---------------------------------------------------------------- the tests detect defects


@pytest.mark.torture
def test_reading_everything_into_memory_is_detected(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="MB"):
        check_predict(1_000_000, "file", stages, tmp_path, tally, nlptx=broken("reads_everything_first"))


@pytest.mark.torture
def test_open_files_are_detected(stages, tmp_path, tally):
    with pytest.raises(AssertionError, match="files open"):
        check_predict(500_000, "file", stages, tmp_path, tally, nlptx=broken("leaks_descriptors"))
