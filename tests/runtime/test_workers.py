"""Workers: the order of results, how much is under way, errors, and what processes share with their parent."""

import os
import sys
import threading

import pytest
from command import run_forking

from nlptx.runtime import processes
from nlptx.runtime.workers import PAUSE, Workers

forks = pytest.mark.skipif(sys.platform != "linux", reason="workers are threads on this system")
KILLED = (
    "a worker process was killed\n  The system does so when memory is short: give `jobs=1`, or less text at a time.\n"
)


# ---------------------------------------------------------------- map


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("isolated", [False, True])
def test_map_uses_threads_unless_processes_are_allowed(jobs, isolated):
    with Workers(jobs) as workers:
        found = list(workers.map(lambda number: (number, os.getpid()), range(3), isolated=isolated))
    assert found == [(number, os.getpid()) for number in range(3)]


@pytest.mark.parametrize(("jobs", "isolated"), [(1, True), (2, False)])
def test_one_worker_and_work_that_is_not_isolated_stay_in_this_process(jobs, isolated):
    with Workers(jobs, processes=True) as workers:
        assert list(workers.map(lambda _: os.getpid(), [0], isolated=isolated)) == [os.getpid()]


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_the_order_of_the_items(jobs):
    # The first item waits for the last, so among threads it ends later.
    last = threading.Event()

    def work(item):
        if jobs > 1 and item == 0:
            last.wait(10)
        if item == 2:
            last.set()
        return item

    with Workers(jobs) as workers:
        assert list(workers.map(work, [0, 1, 2])) == [0, 1, 2]


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_thread_is_left_and_no_error_swallowed(jobs):
    def work(item):
        if item == 1:
            raise ZeroDivisionError
        return item

    before = threading.active_count()
    with Workers(jobs) as workers, pytest.raises(ZeroDivisionError):
        list(workers.map(work, [0, 1, 2]))
    assert threading.active_count() == before


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_at_most_one_item_more_than_workers_is_under_way(jobs):
    begun, done = [], 0
    with Workers(jobs) as workers:
        for _ in workers.map(lambda item: item, (begun.append(item) or item for item in range(20))):
            done += 1
            assert len(begun) <= done + jobs
    assert done == len(begun) == 20


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_is_kept_comes_back_beside_the_result(jobs):
    kept = [object() for _ in range(9)]
    with Workers(jobs) as workers:
        found = list(workers.map_pairs(lambda number: -number, zip(kept, range(9), strict=True)))
    assert found == [(thing, -number) for number, thing in enumerate(kept)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_at_a_pause_everything_is_handed_over(jobs):
    seen = []

    def pairs():
        for number in range(4):
            yield number, number
        yield PAUSE
        assert len(seen) == 4
        yield 4, 4

    with Workers(jobs) as workers:
        for kept, _ in workers.map_pairs(lambda number: number, pairs()):
            seen.append(kept)
    assert seen == list(range(5))


@pytest.mark.parametrize("jobs", [1, 2])
def test_who_stops_early_leaves_no_thread_and_starts_no_more_work(jobs):
    before, done = threading.active_count(), []
    with Workers(jobs) as workers:
        for item in workers.map(done.append, range(100)):
            assert item is None
            break
        assert len(done) <= 1 + jobs
    assert threading.active_count() == before


# ---------------------------------------------------------------- all ranks


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_all_ranks_are_threads_unless_processes_are_allowed(jobs):
    with Workers(jobs) as workers:
        for task in range(3):
            found = workers.run_all(lambda task, rank: (task, rank, os.getpid()), task)
            assert found == [(task, rank, os.getpid()) for rank in range(jobs)]


def test_an_error_of_any_rank_is_raised():
    def work(task, rank):
        if rank == task:
            raise ValueError(f"of {rank}")
        return rank

    with Workers(3) as workers:
        assert workers.run_all(work, 7) == [0, 1, 2]
        for rank in range(3):
            with pytest.raises(ValueError, match=f"of {rank}"):
                workers.run_all(work, rank)
        assert workers.run_all(work, 7) == [0, 1, 2]


def test_ranks_change_their_work_and_end_with_the_block():
    before = threading.active_count()
    with Workers(3) as workers:
        assert workers.run_all(lambda task, rank: task + rank, 1) == [1, 2, 3]
        assert workers.run_all(lambda task, rank: task * rank, 2) == [0, 2, 4]
    assert threading.active_count() == before


def test_no_more_workers_than_asked_for():
    assert [Workers(3).at_most(jobs).jobs for jobs in (1, 3, 9)] == [1, 3, 3]
    assert Workers(3, processes=True).at_most(2).processes
    assert Workers().jobs == len(os.sched_getaffinity(0)) if sys.platform == "linux" else Workers().jobs


# ---------------------------------------------------------------- where there are no processes


@pytest.mark.parametrize("missing", ["pipes", "list of open files"])
def test_where_the_system_cannot_fork_workers_are_threads(missing, monkeypatch):
    def refuse():
        raise OSError(24, "Too many open files")

    if missing == "pipes":
        monkeypatch.setattr(os, "pipe", refuse)
    else:
        monkeypatch.setattr(processes, "_OPEN_FILES", "/nowhere")
    with Workers(2, processes=True) as workers:
        assert set(workers.map(lambda _: os.getpid(), range(3), isolated=True)) == {os.getpid()}
        assert set(workers.run_all(lambda task, rank: os.getpid(), None)) == {os.getpid()}


REFUSED = """
import os
from nlptx.runtime.workers import Workers

fork, left = os.fork, [None]

def stingy():
    if not left:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    left.pop()
    return fork()

os.fork = stingy
with Workers(3, processes=True) as workers:
    print(list(workers.map(abs, [-1, -2, -3, -4], isolated=True)))
    left.append(None)
    print(workers.run_all(lambda task, rank: (task, rank, os.getpid() == parent), 5) if (parent := os.getpid()) else 0)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")
"""


@forks
def test_where_not_all_processes_can_be_started_workers_are_threads():
    done = run_forking(REFUSED)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[1, 2, 3, 4]\n[(5, 0, True), (5, 1, True), (5, 2, True)]\nalone\n"


# ---------------------------------------------------------------- processes

MAPPED = """
import os, signal
from nlptx.errors import DataError
from nlptx.runtime.workers import Workers

shared, parent = object(), os.getpid()  # an object that no pipe could carry
reading, writing = os.pipe()

def is_open():
    try:
        os.write(writing, b"")
    except OSError:
        return False
    return True

def work(number):
    if number == 2:
        raise DataError("two", where="file:2", hint="Take three.")
    ignored = {signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)} == {signal.SIG_IGN}
    return number, os.getpid() != parent, id(shared), ignored, is_open()

with Workers(2, processes=True) as workers:
    for items in ([0, 1, 3], [4, 2, 5], [6]):
        try:
            results = list(workers.map(work, items, isolated=True))
            print([result == (number, True, id(shared), True, False) for number, result in zip(items, results)])
        except DataError as error:
            print(error)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")
"""


@forks
def test_processes_see_what_was_in_memory_and_return_results_and_errors():
    done = run_forking(MAPPED)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[True, True, True]\nfile:2: two\n  Take three.\n[True]\nalone\n"


RANKED = """
import os
import signal
import numpy as np
from nlptx.errors import DataError
from nlptx.runtime.shared_memory import shared_empty
from nlptx.runtime.workers import Workers

secret, parent, array = object(), os.getpid(), shared_empty((4, 2), np.int64)
reading, writing = os.pipe()

def work(task, rank):
    if task == ("error", rank):
        raise DataError("no", where=f"file:{rank}", hint="Take another.")
    if task == "leave" and rank:
        os._exit(1)
    if task == "unspeakable" and rank == 1:
        return lambda: None  # which no pipe carries
    array[rank] += array[3]
    signals = [signal.getsignal(number) == signal.SIG_IGN for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        os.write(writing, b"")
        open_here = True
    except OSError:
        open_here = False
    return rank, os.getpid() != parent, id(secret), signals, open_here

with Workers(3, processes=True) as workers:
    array[:] = [[1, 2], [11, 12], [21, 22], [5, 5]]
    said = workers.run_all(work, None)
    assert said[0] == (0, False, id(secret), [False, False], True), said
    assert said[1:] == [(rank, True, id(secret), [True, True], False) for rank in (1, 2)], said
    assert array.tolist() == [[6, 7], [16, 17], [26, 27], [5, 5]], array
    for rank in (2, 1, 0):
        try:
            workers.run_all(work, ("error", rank))
        except DataError as error:
            print(error)
    assert [said[0] for said in workers.run_all(work, None)] == [0, 1, 2]  # every answer is that to the last task
for task in ("leave", "unspeakable"):
    try:
        with Workers(3, processes=True) as workers:
            workers.run_all(work, task)
    except Exception as error:
        print(error)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")
"""


@forks
def test_ranks_see_what_was_in_memory_and_return_results_and_errors():
    done = run_forking(RANKED)
    assert (done.returncode, done.stderr) == (0, "")
    errors = "".join(f"file:{rank}: no\n  Take another.\n" for rank in (2, 1, 0))
    start, unspeakable, end = done.stdout.removesuffix("alone\n").rpartition("Can't pickle")
    assert start == errors + KILLED
    assert unspeakable, done.stdout
    assert end.count("\n") == 1


DRAWN = """
import os, sys, threading
from nlptx.runtime.workers import Workers

parent = os.getpid()

class Busy:
    def write(self, text):
        pass

    def flush(self):
        if os.getpid() != parent:
            threading.Event().wait()  # for the thread that was writing at the fork, which is not here

sys.stdout = sys.stderr = Busy()
with Workers(2, processes=True) as workers:
    assert list(workers.map(abs, [-1], isolated=True)) == [1]
    assert workers.run_all(lambda task, rank: rank, None) == [0, 1]
"""


@forks
def test_processes_end_though_another_thread_was_writing_at_the_fork():
    assert run_forking(DRAWN).returncode == 0


INTERRUPTED = """
import os, signal, time
from nlptx.runtime.workers import Workers

def work(task, rank):
    if task == "interrupt" and rank == 0:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    if task == "interrupt":
        time.sleep(1)
    return task

with Workers(3, processes=True) as workers:
    try:
        workers.run_all(work, "interrupt")
    except KeyboardInterrupt:
        print(workers.run_all(work, "later"))
    try:
        for item in workers.map(lambda item: time.sleep(item), [0, 100, 100, 100], isolated=True):
            os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        print("ended")
"""


@forks
def test_after_an_interrupt_no_answer_is_taken_for_another_and_nobody_is_waited_for():
    done = run_forking(INTERRUPTED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "['later', 'later', 'later']\nended\n", "")
