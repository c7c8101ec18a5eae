"""Workers, threads or processes: what comes back from them, and that no process outlives its time."""

import contextlib
import os
import signal
import subprocess
import sys

import pytest
from command import TIMEOUT, Running, alive, all_end, children, environment, run, run_forking

from nlptx.runtime import executor as module
from nlptx.runtime.executor import workers

forks = pytest.mark.skipif(sys.platform != "linux", reason="workers are threads on this system")


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_are_threads_unless_processes_are_asked_for(jobs):
    with workers(lambda number: (number, os.getpid()), jobs) as submit:
        assert [submit(number).result() for number in range(3)] == [(number, os.getpid()) for number in range(3)]


def test_one_worker_is_a_thread():
    with workers(lambda _: os.getpid(), 1, processes=True) as submit:
        assert submit(None).result() == os.getpid()


@pytest.mark.parametrize("error", [ImportError, NotImplementedError, OSError])
def test_without_semaphores_workers_are_threads(error, monkeypatch):
    def refuse(*arguments):
        raise error

    monkeypatch.setattr(module, "ProcessPoolExecutor", refuse)
    with workers(lambda _: os.getpid(), 2, processes=True) as submit:
        assert submit(None).result() == os.getpid()


SHARING = """
import os
from nlptx.errors import DataError
from nlptx.runtime.executor import workers

shared, parent = object(), os.getpid()  # an object that no pipe could carry

def work(number):
    if number == 2:
        raise DataError("two", where="file:2", hint="Take three.")
    return number, os.getpid() != parent, id(shared)

with workers(work, 2, processes=True) as submit:
    futures = [submit(number) for number in range(4)]
    print([futures[number].result() for number in (0, 1, 3)] == [(number, True, id(shared)) for number in (0, 1, 3)])
    try:
        futures[2].result()
    except DataError as error:
        print(error)
"""


@forks
def test_processes_share_what_is_in_memory_and_hand_back_results_and_errors():
    done = run_forking(SHARING)
    assert (done.returncode, done.stdout) == (0, "True\nfile:2: two\n  Take three.\n"), done.stderr


DRAWN = """
import os, sys, threading
from nlptx.runtime.executor import workers

parent = os.getpid()

class Busy:
    def write(self, text):
        pass

    def flush(self):
        if os.getpid() != parent:
            threading.Event().wait()  # for the thread that was writing at the fork, which is not here

sys.stdout = sys.stderr = Busy()
with workers(abs, 2, processes=True) as submit:
    submit(-1).result()
"""


@forks
def test_workers_end_though_another_thread_was_writing_at_the_fork():
    assert run_forking(DRAWN).returncode == 0


@pytest.fixture
def scoring(work):
    """A scoring under way, with two workers, that has answered its first text."""
    with Running("predict", "-m", work / "model.npz", "--jobs", "2") as running:
        running.write(b"great film\n")
        running.read_until(b"\n")
        yield running


@forks
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_workers_that_were_killed_are_one_clear_error(name, scoring):
    """Both: one alone, waiting for work, may go unnoticed while the other does it."""
    both = children(scoring)
    assert len(both) == 2
    for pid in both:
        with contextlib.suppress(ProcessLookupError):  # where the first was missed at once, the second is ended too
            os.kill(pid, getattr(signal, name))
    assert all_end(both)
    scoring.write(b"awful film\n")
    ended = scoring.finish()
    assert ended.code == 1
    assert ended.stderr.startswith("nlptx: error: a worker process was ended from outside\n")
    assert "--jobs 1" in ended.stderr
    assert all_end(both)


@forks
def test_workers_end_with_their_parent(scoring):
    both = children(scoring)
    scoring.process.kill()
    assert all_end(both)


@forks
@pytest.mark.parametrize(("name", "code", "said"), [("SIGINT", 130, "nlptx: interrupted\n"), ("SIGTERM", 143, "")])
def test_a_signal_to_all_processes_is_answered_by_the_parent(name, code, said, scoring):
    """As Ctrl-C at a terminal, or ``timeout``."""
    both = children(scoring)
    os.killpg(scoring.process.pid, getattr(signal, name))
    assert scoring.process.wait(TIMEOUT) == code
    assert scoring.process.stderr.read().decode() == said
    assert all_end(both)


SIGNALLED = """
import multiprocessing.context as context
import os
import signal
import sys
from nlptx.cli.main import main

place, name = sys.argv.pop(1), sys.argv.pop(1)
parent, start, strikes = os.getpid(), context.ForkProcess.start, [getattr(signal, name)]

def strike():
    if strikes:
        os.kill(parent, strikes.pop())

def start_and_strike(process):
    start(process)
    strike()

if place == "within":
    os.register_at_fork(after_in_parent=strike)
else:
    context.ForkProcess.start = start_and_strike
main()
"""


@forks
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("place", ["within", "after"])
def test_a_signal_in_the_middle_of_a_fork_is_neither_lost_nor_a_hang(place, name, code, work):
    words = ["predict", "-m", work / "model.npz", work / "test.tsv", "--jobs", "2"]
    program = [sys.executable, "-c", SIGNALLED, place, name, *map(str, words)]
    done = subprocess.run(program, capture_output=True, env=environment(), check=False, text=True, timeout=TIMEOUT)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


@forks
def test_the_end_of_the_input_ends_the_workers(scoring):
    both = children(scoring)
    assert scoring.finish().code == 0
    assert not any(alive(pid) for pid in both)


def test_files_are_scored_alike_by_any_number_of_workers(work):
    path = work / "test.tsv"
    scored = {run("predict", "-m", work / "model.npz", path, "--jobs", jobs).stdout for jobs in (1, 2, 3)}
    assert len(scored) == 1


COUNTED = """
from nlptx.cli.main import main
from nlptx.cooccurrence import parallel_count, window_pairs

window_pairs._PAIRS, parallel_count._PAIRS, parallel_count._ENTRIES = 50, 100, 0
main()
"""


def test_a_corpus_is_counted_alike_by_any_number_of_workers(work, tmp_path):
    count = ("cooccur", work / "corpus.txt", "--min-count", "1", "--window", "4")
    run(*count, "--jobs", "1", "-o", tmp_path / "plain.npz")
    for jobs in ("1", "2", "3"):
        words = [sys.executable, "-c", COUNTED, *count, "--jobs", jobs, "-o", tmp_path / f"{jobs}.npz"]
        subprocess.run(words, env=environment(), check=True, timeout=TIMEOUT)
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


REFUSED = """
import os
from nlptx.runtime.executor import workers

fork, left = os.fork, [None]

def stingy():
    if not left:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    left.pop()
    return fork()

os.fork = stingy
with workers(abs, 3, processes=True) as submit:
    print(submit(-1).result())
"""


@forks
def test_where_not_all_processes_can_be_started_workers_are_threads():
    done = run_forking(REFUSED)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


KILLED = """
import os, signal
from nlptx.cli.main import main
from nlptx.cooccurrence import parallel_count
from nlptx.cooccurrence.window_pairs import PairCounter

PairCounter.count = lambda counter, rows: os.kill(os.getpid(), signal.SIGKILL)
parallel_count._PAIRS = 100  # so that there is work for all
main()
"""


@forks
def test_a_worker_that_is_killed_while_it_counts_leaves_nothing_behind(work, tmp_path):
    words = [sys.executable, "-c", KILLED, "cooccur", work / "corpus.txt", "--jobs", "2", "-o", tmp_path / "counts.npz"]
    done = subprocess.run(
        words, capture_output=True, env=environment(), check=False, text=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 1
    assert done.stderr.startswith("nlptx: error: a worker process was ended from outside\n")
    assert os.listdir(tmp_path) == []
