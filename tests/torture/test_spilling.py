"""Counting keeps to its ``--memory``, and gives back the temporary space it takes instead."""

import contextlib
import signal
import time
from pathlib import Path

import pytest
from command import NLPTX, contents
from harness import end, start, write_corpus
from tally import Tally
from watch import MOST_FILES, TIMES, measure, needs_proc

pytestmark = needs_proc
MEMORY = 100
KEPT = ("--min-count", "1", "--max-words", "1000", "--window", "10")


@pytest.fixture
def tally(request):
    return Tally(request, "memory")


def repeated(path, size, times):
    """A corpus that is the same text many times over, so that its counts have the same entries."""
    text = write_corpus(path, size, seed=8, words=1000).read_bytes()
    path.write_bytes(text * times)
    return path


def check_cooccur(amount, folder, tally, memory=MEMORY):
    """Count a little, a text, and 16 times that text."""
    spilled = folder / "spilled"
    spilled.mkdir()
    options = (*KEPT, "--memory", f"{memory}M", "--tmp-dir", spilled, "-q", "-o", folder / "counts.npz")
    few, some, many = (
        measure(("cooccur", repeated(folder / "corpus.txt", size, times), *options), tally)
        for size, times in ((10_000, 1), (amount, 1), (amount, TIMES))
    )
    taken = many.megabytes - few.megabytes
    tally.note(
        f"cooccur --memory {memory}M: {few.megabytes:.0f} MB for nothing much, {some.megabytes:.0f} MB for"
        f" {amount / 1e6:.1f} MB of text, {many.megabytes:.0f} MB for {TIMES} times that; {many.files} files"
    )
    assert many.files < MOST_FILES
    assert contents(spilled) == {}
    # A limit to keep to, not one that the system enforces.
    assert taken < 1.5 * MEMORY, f"{taken:.0f} MB taken, {MEMORY} allowed"


LARGE = pytest.param(4_000_000, id="full", marks=pytest.mark.torture)


@pytest.mark.parametrize("amount", [pytest.param(500_000, id="quick"), LARGE])
def test_cooccur_keeps_to_its_memory(amount, tmp_path, tally):
    check_cooccur(amount, tmp_path, tally)


@pytest.mark.parametrize("amount", [pytest.param(1_000_000, id="quick"), LARGE])
@pytest.mark.parametrize("way_out", ["SIGKILL", "SIGTERM", "SIGINT", "no room", "bad text", "success"])
def test_temporary_space_is_given_back_on_every_way_out(amount, way_out, tmp_path, tally):
    spilled, corpus = tmp_path / "spilled", repeated(tmp_path / "corpus.txt", amount, TIMES)
    spilled.mkdir()
    if way_out == "bad text":
        with open(corpus, "ab") as file:
            file.write(b"\xff\n")
    shell = ["bash", "-c", 'ulimit -f 2000; exec "$@"', "bash"] if way_out == "no room" else []
    words = ("cooccur", corpus, *KEPT, "--memory", f"{MEMORY}M", "--tmp-dir", spilled, "-q", "-o", tmp_path / "out.npz")
    process = start(*words, nlptx=[*shell, *NLPTX])
    if way_out.startswith("SIG"):
        until = time.monotonic() + 1
        while not spilling(process.pid, spilled) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        tally.injected()
        process.send_signal(getattr(signal, way_out))
    done = end(process)
    codes = {"SIGKILL": -9, "SIGTERM": 143, "SIGINT": 130, "no room": 1, "bad text": 3, "success": 0}
    assert done.code == codes[way_out] or (way_out == "no room" and done.code == 0), done.stderr
    assert contents(spilled) == {}
    assert set(contents(tmp_path)) - {"out.npz"} == {"corpus.txt"}
    tally.survived()


def spilling(number, folder):
    """Tell whether a process has a file open in ``folder``, be it one without a name."""
    with contextlib.suppress(OSError):
        return any(link.readlink().is_relative_to(folder) for link in Path(f"/proc/{number}/fd").iterdir())
    return False


# ---------------------------------------------------------------- the tests notice


def test_counts_that_take_more_are_noticed(tmp_path, tally):
    with pytest.raises(AssertionError, match="allowed"):
        check_cooccur(1_500_000, tmp_path, tally, memory=4000)
