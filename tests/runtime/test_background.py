"""Tests of iterators that run in a forked process."""

import io
import os
import signal
import sys
import tarfile
import threading
import time

import pytest
from command import TIMEOUT, on_terminal, run_forking
from reading import read, write

from nlptx.corpus import folders
from nlptx.errors import DataError, NlptxError
from nlptx.runtime import background
from nlptx.runtime.background import in_background

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no process is forked on this system")


@pytest.fixture
def forking(monkeypatch):
    """Allows forking, although the tests may run in a process with other threads and on a single core."""
    monkeypatch.setattr(background, "is_only_thread", lambda: True)
    monkeypatch.setattr(background, "available_cores", lambda: 2)


def numbers(count, after=lambda: None):
    """Yield (number, id of the process) up to ``count``; then call ``after``."""
    for number in range(count):
        yield number, os.getpid()
    after()


def run(count, after=lambda: None, batch_size=7):
    return in_background(lambda: numbers(count, after), lambda item: 2, batch_size)


def fail():
    raise DataError("no further number", where="numbers:9", hint="Count less.")


@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 100])
@pytest.mark.parametrize("batch_size", [1, 8, 1000])
def test_items_come_in_order_from_another_process(count, batch_size):
    items = list(run(count, batch_size=batch_size))
    assert [number for number, _ in items] == list(range(count))
    assert all(pid != os.getpid() for _, pid in items)


@pytest.mark.usefixtures("forking")
def test_the_process_works_on_the_next_batch_while_the_caller_uses_this_one(tmp_path):
    def marked():
        for number in range(4):
            (tmp_path / str(number)).touch()
            yield number

    items = in_background(marked, lambda number: 1, 1)
    assert next(items) == 0
    end = time.monotonic() + TIMEOUT
    while not (tmp_path / "1").exists() and time.monotonic() < end:
        time.sleep(0.001)
    assert (tmp_path / "1").exists()
    assert not (tmp_path / "2").exists()
    assert list(items) == [1, 2, 3]


@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize("count", [0, 4, 9])
def test_an_error_is_raised_after_all_items_before_it(count):
    items = run(count, fail)
    assert [next(items)[0] for _ in range(count)] == list(range(count))
    with pytest.raises(DataError) as caught:
        next(items)
    assert (caught.value.where, caught.value.hint) == ("numbers:9", "Count less.")


@pytest.mark.usefixtures("forking")
def test_a_killed_process_is_an_error():
    items = run(9, lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(NlptxError, match="a worker process was killed"):
        list(items)


@pytest.mark.usefixtures("forking")
def test_the_process_ends_with_the_iterator():
    items = run(1000)
    _, pid = next(items)
    os.kill(pid, 0)
    items.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_no_process_is_forked_beside_another_thread(monkeypatch):
    monkeypatch.setattr(background, "available_cores", lambda: 2)
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert {pid for _, pid in run(9)} == {os.getpid()}
    finally:
        ended.set()
        thread.join()


LOCKED_STDERR = """
import os, sys, threading
from nlptx.runtime.processes import forked, harmless_threads

reading, writing = os.pipe()
sys.stderr = open(writing, "w")
with harmless_threads():  # the thread holds the lock of sys.stderr, because nobody reads from the pipe
    thread = threading.Thread(target=lambda: sys.stderr.write("x" * 1_000_000) and sys.stderr.flush(), daemon=True)
    thread.start()
while not os.read(reading, 1):
    pass
with forked([lambda item: print("shown", file=sys.stderr)]) as processes:
    processes[0].start(None)()
print("ended", flush=True)
os._exit(0)
"""


def test_a_process_can_write_to_standard_error_although_a_thread_holds_its_lock():
    done = run_forking(LOCKED_STDERR)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "shown\n")


HARMLESS = """
import threading
from nlptx.runtime.processes import harmless_threads, is_only_thread

def waiting():
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    return thread, ended

assert is_only_thread()
with harmless_threads():
    first = waiting()
assert is_only_thread()
second = waiting()
assert not is_only_thread()
for thread, ended in (first, second):
    ended.set()
    thread.join()
assert is_only_thread()
third = waiting()
assert not is_only_thread(), "the identifier of an ended thread may be used again"
third[1].set()
"""


def test_only_threads_that_are_not_harmless_prevent_forking():
    done = run_forking(HARMLESS)
    assert (done.returncode, done.stderr) == (0, "")


# ---------------------------------------------------------------- archives


@pytest.fixture
def archive(tmp_path):
    """An archive of six reviews."""
    path = tmp_path / "reviews.tar.gz"
    with tarfile.open(path, "w:gz") as file:
        for number in range(6):
            content = "".join(f"a good film {number * n**3}\n" for n in range(50)).encode()
            member = tarfile.TarInfo(f"train/{'pos' if number % 2 else 'neg'}/{number}.txt")
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.usefixtures("forking")
def test_a_large_archive_gives_the_same_documents_and_errors_in_the_background(archive, tmp_path, monkeypatch):
    packed = archive.read_bytes()
    path = tmp_path / "part.tar.gz"
    processes = []
    original = in_background
    monkeypatch.setattr(background, "in_background", lambda *items: processes.append(1) or original(*items))

    def outcome():
        try:
            return [(document.text, document.label, document.where) for document in read(path)]
        except DataError as error:
            return str(error)

    for length in (20, len(packed) // 3, len(packed) - 9, len(packed)):
        write(path, packed[:length])
        here = outcome()
        assert not processes
        with monkeypatch.context() as limits:
            limits.setattr(folders, "_MIN_ARCHIVE_BYTES", 0)
            assert outcome() == here
        assert processes
        processes.clear()
    assert len(here) == 6


def test_an_archive_is_read_in_the_background_under_a_progress_bar(archive, tmp_path):
    program = """
import os
from nlptx.cli.main import main
from nlptx.corpus import folders
from nlptx.runtime import background

forks = []
os.register_at_fork(before=lambda: forks.append(1))
folders._MIN_ARCHIVE_BYTES = 0
background.available_cores = lambda: 2
try:
    main()
finally:
    print("forks:", len(forks))
"""
    shown = on_terminal("cooccur", archive, "-o", tmp_path / "c.npz", "--jobs", "1", program=program)
    assert "forks: 1" in shown.text
