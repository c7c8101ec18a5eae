"""``cooccur`` stays within ``--memory``: data that exceeds it goes to temporary files, whose disk space is released."""

import contextlib
import signal
import time
from pathlib import Path

import pytest
from command import NLPTX, contents
from harness import end, start, write_corpus
from tally import Tally
from watch import MAX_FILES, measure, needs_proc

pytestmark = needs_proc
MEMORY = 100
# Number of times that the larger text repeats the smaller one.
TIMES = 16
OPTIONS = ("--min-count", "1", "--max-words", "1000", "--window", "10")


@pytest.fixture
def tally(request):
    return Tally(request, "memory")


def repeated(path, size, times):
    """Write a corpus that repeats one text, so that the number of distinct pairs does not grow."""
    text = write_corpus(path, size, seed=8, words=1000).read_bytes()
    path.write_bytes(text * times)
    return path


def check_cooccur(amount, folder, tally, memory=MEMORY):
    """Count a tiny text, a larger one, and 16 copies of the larger one; check memory and temporary files."""
    spilled = folder / "spilled"
    spilled.mkdir()
    options = (*OPTIONS, "--memory", f"{memory}M", "--tmp-dir", spilled, "-q", "-o", folder / "counts.npz")
    tiny, once, repeatedly = (
        measure(("cooccur", repeated(folder / "corpus.txt", size, times), *options), tally)
        for size, times in ((10_000, 1), (amount, 1), (amount, TIMES))
    )
    used = repeatedly.megabytes - tiny.megabytes
    tally.note(
        f"cooccur --memory {memory}M: {tiny.megabytes:.0f} MB for a tiny text, {once.megabytes:.0f} MB for"
        f" {amount / 1e6:.1f} MB of text, {repeatedly.megabytes:.0f} MB for {TIMES} times that;"
        f" {repeatedly.files} files"
    )
    assert repeatedly.files < MAX_FILES
    assert contents(spilled) == {}
    # The tolerance is needed because --memory is an estimate that the system does not enforce.
    assert used < 1.5 * MEMORY, f"{used:.0f} MB used, {MEMORY} allowed"


LARGE = pytest.param(4_000_000, id="full", marks=pytest.mark.torture)


@pytest.mark.parametrize("amount", [pytest.param(500_000, id="quick"), LARGE])
def test_cooccur_stays_within_its_memory(amount, tmp_path, tally):
    check_cooccur(amount, tmp_path, tally)


@pytest.mark.parametrize("amount", [pytest.param(1_000_000, id="quick"), LARGE])
@pytest.mark.parametrize("ending", ["SIGKILL", "SIGTERM", "SIGINT", "no space", "bad text", "success"])
def test_temporary_space_is_always_released(amount, ending, tmp_path, tally):
    spilled, corpus = tmp_path / "spilled", repeated(tmp_path / "corpus.txt", amount, TIMES)
    spilled.mkdir()
    if ending == "bad text":
        with open(corpus, "ab") as file:
            file.write(b"\xff\n")
    limited = ["bash", "-c", 'ulimit -f 2000; exec "$@"', "bash", *NLPTX] if ending == "no space" else None
    words = (
        "cooccur",
        corpus,
        *OPTIONS,
        "--memory",
        f"{MEMORY}M",
        "--tmp-dir",
        spilled,
        "-q",
        "-o",
        tmp_path / "out.npz",
    )
    process = start(*words, nlptx=limited)
    if ending.startswith("SIG"):
        until = time.monotonic() + 1
        while not spilling(process.pid, spilled) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        tally.injected()
        process.send_signal(getattr(signal, ending))
    done = end(process)
    codes = {"SIGKILL": -9, "SIGTERM": 143, "SIGINT": 130, "no space": 1, "bad text": 3, "success": 0}
    assert done.code == codes[ending] or (ending == "no space" and done.code == 0), done.stderr
    assert contents(spilled) == {}
    assert set(contents(tmp_path)) - {"out.npz"} == {"corpus.txt"}
    tally.survived()


def spilling(number, folder):
    """Return whether a process has an open file in ``folder``; the file may already be unlinked."""
    with contextlib.suppress(OSError):
        return any(link.readlink().is_relative_to(folder) for link in Path(f"/proc/{number}/fd").iterdir())
    return False


# ---------------------------------------------------------------- the tests detect defects


@pytest.mark.torture
def test_excessive_memory_is_detected(tmp_path, tally):
    with pytest.raises(AssertionError, match="allowed"):
        check_cooccur(1_500_000, tmp_path, tally, memory=4000)
