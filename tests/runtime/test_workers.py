"""Tests of workers: order of results, number of items in progress, errors, and memory shared by processes."""

import os
import sys
import threading

import pytest
from command import run_forking

from nlptx.runtime import processes
from nlptx.runtime.resources import available_cores
from nlptx.runtime.workers import PAUSE, Workers

forks = pytest.mark.skipif(sys.platform != "linux", reason="workers are threads on this system")
KILLED = (
    "a worker process was killed\n"
    "  The system kills processes when memory is short. Process less text at a time, or use fewer `jobs`.\n"
)

# ---------------------------------------------------------------- map


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("isolated", [False, True])
def test_map_uses_threads_unless_processes_are_allowed(jobs, isolated):
    with Workers(jobs) as workers:
        results = list(workers.map(lambda number: (number, os.getpid()), range(3), isolated=isolated))
    assert results == [(number, os.getpid()) for number in range(3)]


@pytest.mark.parametrize(("jobs", "isolated"), [(1, True), (2, False)])
def test_a_single_worker_and_work_that_is_not_isolated_run_in_this_process(jobs, isolated):
    with Workers(jobs, processes=True) as workers:
        assert list(workers.map(lambda _: os.getpid(), [0], isolated=isolated)) == [os.getpid()]


def test_a_single_item_is_processed_without_another_thread():
    with Workers(2) as workers:
        for items in ([0], iter([0])):
            assert list(workers.map(lambda _: threading.current_thread(), items)) == [threading.current_thread()]
        assert threading.current_thread() not in workers.map(lambda _: threading.current_thread(), [0, 1])


@pytest.mark.parametrize("jobs", [1, 3])
def test_results_come_in_the_order_of_the_items(jobs):
    # With several threads, the first item waits for the last one, so the last item finishes first.
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
def test_errors_are_raised_and_all_threads_end(jobs):
    def work(item):
        if item == 1:
            raise ZeroDivisionError
        return item

    before = threading.active_count()
    with Workers(jobs) as workers, pytest.raises(ZeroDivisionError):
        list(workers.map(work, [0, 1, 2]))
    assert threading.active_count() == before


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_the_number_of_items_in_progress_is_limited(jobs):
    started, done = [], 0
    with Workers(jobs) as workers:
        for _ in workers.map(lambda item: item, (started.append(item) or item for item in range(20))):
            done += 1
            assert len(started) <= done + jobs
    assert done == len(started) == 20


@pytest.mark.parametrize("jobs", [1, 3])
def test_map_pairs_returns_keys_with_results(jobs):
    keys = [object() for _ in range(9)]
    with Workers(jobs) as workers:
        results = list(workers.map_pairs(lambda number: -number, zip(keys, range(9), strict=True)))
    assert results == [(key, -number) for number, key in enumerate(keys)]


@pytest.mark.parametrize("jobs", [1, 3])
def test_all_results_are_delivered_at_a_pause(jobs):
    seen = []

    def pairs():
        for number in range(4):
            yield number, number
        yield PAUSE
        assert len(seen) == 4
        yield 4, 4

    with Workers(jobs) as workers:
        for key, _ in workers.map_pairs(lambda number: number, pairs()):
            seen.append(key)
    assert seen == list(range(5))


@pytest.mark.parametrize("jobs", [1, 2])
def test_stopping_early_ends_all_threads_and_starts_no_more_work(jobs):
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
            results = workers.run_all(lambda task, rank: (task, rank, os.getpid()), task)
            assert results == [(task, rank, os.getpid()) for rank in range(jobs)]


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


def test_ranks_accept_new_work_and_end_with_the_block():
    before = threading.active_count()
    with Workers(3) as workers:
        assert workers.run_all(lambda task, rank: task + rank, 1) == [1, 2, 3]
        assert workers.run_all(lambda task, rank: task * rank, 2) == [0, 2, 4]
    assert threading.active_count() == before


def test_at_most_limits_the_number_of_workers():
    assert [Workers(3).at_most(jobs).jobs for jobs in (1, 3, 9)] == [1, 3, 3]
    assert Workers(3, processes=True).at_most(2).processes
    assert Workers().jobs == available_cores()


def test_a_local_pool_has_the_same_kind_and_number_of_workers():
    with Workers(3) as workers, workers.local() as pool:
        assert pool is not workers
        assert (pool.jobs, pool.processes) == (3, False)
        # Using one pool does not end the workers of the other one.
        for each in (workers, pool, workers):
            assert each.run_all(lambda task, rank: task + rank, 1) == [1, 2, 3]
    assert Workers(3, processes=True).local().processes


# ---------------------------------------------------------------- fallback to threads


@pytest.mark.parametrize("missing", ["pipes", "list of open files"])
def test_workers_are_threads_if_processes_cannot_be_created(missing, monkeypatch):
    def fail():
        raise OSError(24, "Too many open files")

    if missing == "pipes":
        monkeypatch.setattr(os, "pipe", fail)
    else:
        monkeypatch.setattr(processes, "_OPEN_FILES", "/nowhere")
    with Workers(2, processes=True) as workers:
        assert set(workers.map(lambda _: os.getpid(), range(3), isolated=True)) == {os.getpid()}
        assert set(workers.run_all(lambda task, rank: os.getpid(), None)) == {os.getpid()}


# Appended to programs: prints "alone" if no child process is left.
PRINT_IF_ALONE = """
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")
"""


FEW_PROCESSES = (
    """
import os
from nlptx.runtime.workers import Workers

fork, remaining = os.fork, [None]

def limited_fork():
    if not remaining:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    remaining.pop()
    return fork()

os.fork = limited_fork
with Workers(3, processes=True) as workers:
    print(list(workers.map(abs, [-1, -2, -3, -4], isolated=True)))
    remaining.append(None)
    print(workers.run_all(lambda task, rank: (task, rank, os.getpid() == parent), 5) if (parent := os.getpid()) else 0)
"""
    + PRINT_IF_ALONE
)


@forks
def test_workers_are_threads_if_only_some_processes_can_be_started():
    done = run_forking(FEW_PROCESSES)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[1, 2, 3, 4]\n[(5, 0, True), (5, 1, True), (5, 2, True)]\nalone\n"


# ---------------------------------------------------------------- processes

MAPPED = (
    """
import os, signal
from nlptx.errors import DataError
from nlptx.runtime.workers import Workers

shared, parent = object(), os.getpid()  # pickling would change the identity of the object
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
"""
    + PRINT_IF_ALONE
)


@forks
def test_processes_share_memory_and_return_results_and_errors():
    done = run_forking(MAPPED)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[True, True, True]\nfile:2: two\n  Take three.\n[True]\nalone\n"


RANKED = (
    """
import os
import signal
import numpy as np
from nlptx.errors import DataError
from nlptx.runtime.shared_memory import shared_zeros
from nlptx.runtime.workers import Workers

class TwoArguments(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} {second}")  # pickle would call this class with one argument

shared, parent, array = object(), os.getpid(), shared_zeros((4, 2), np.int64)
reading, writing = os.pipe()

def work(task, rank):
    if task == ("error", rank):
        raise DataError("no", where=f"file:{rank}", hint="Take another.")
    if task == "leave" and rank:
        os._exit(1)
    if task == "unpicklable" and rank == 1:
        return lambda: None  # cannot be pickled
    if task == "unpicklable error" and rank == 1:
        raise TwoArguments("two", "arguments")
    array[rank] += array[3]
    signals = [signal.getsignal(number) == signal.SIG_IGN for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        os.write(writing, b"")
        open_here = True
    except OSError:
        open_here = False
    return rank, os.getpid() != parent, id(shared), signals, open_here

with Workers(3, processes=True) as workers:
    array[:] = [[1, 2], [11, 12], [21, 22], [5, 5]]
    results = workers.run_all(work, None)
    assert results[0] == (0, False, id(shared), [False, False], True), results
    assert results[1:] == [(rank, True, id(shared), [True, True], False) for rank in (1, 2)], results
    assert array.tolist() == [[6, 7], [16, 17], [26, 27], [5, 5]], array
    for rank in (2, 1, 0):
        try:
            workers.run_all(work, ("error", rank))
        except DataError as error:
            print(error)
    assert [result[0] for result in workers.run_all(work, None)] == [0, 1, 2]  # results of this task, not an older one
for task in ("leave", "unpicklable", "unpicklable error"):
    try:
        with Workers(3, processes=True) as workers:
            workers.run_all(work, task)
    except Exception as error:
        print(error)
"""
    + PRINT_IF_ALONE
)


@forks
def test_ranks_share_memory_and_return_results_and_errors():
    done = run_forking(RANKED)
    assert (done.returncode, done.stderr) == (0, "")
    errors = "".join(f"file:{rank}: no\n  Take another.\n" for rank in (2, 1, 0))
    start, unpicklable, end = done.stdout.removesuffix("alone\n").rpartition("Can't ")  # Python's message
    assert start == errors + KILLED
    assert unpicklable, done.stdout
    assert end.splitlines()[1:] == ["TwoArguments: two arguments"]


BUSY_OUTPUT = """
import os, sys, threading
from nlptx.runtime.workers import Workers

parent = os.getpid()

class Busy:
    def write(self, text):
        pass

    def flush(self):
        if os.getpid() != parent:
            threading.Event().wait()  # the writing thread does not exist in the child, so waiting for it never ends

sys.stdout = sys.stderr = Busy()
with Workers(2, processes=True) as workers:
    assert list(workers.map(abs, [-1], isolated=True)) == [1]
    assert workers.run_all(lambda task, rank: rank, None) == [0, 1]
"""


@forks
def test_processes_end_even_if_another_thread_was_writing_during_the_fork():
    assert run_forking(BUSY_OUTPUT).returncode == 0


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
def test_an_interrupt_discards_pending_results_without_waiting_for_them():
    done = run_forking(INTERRUPTED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "['later', 'later', 'later']\nended\n", "")
