"""Parallel work: threads or forked processes that share work out, while every BLAS has one thread.

The cores are kept busy by workers alone. So sums depend neither on the number of cores nor on how many threads a BLAS
would take, and no BLAS works against the workers. Results come in the order of the items.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from enum import Enum
from functools import partial
from queue import SimpleQueue
from typing import Any, Self, TypeVar
from weakref import WeakSet

from nlptx.errors import SettingsError
from nlptx.runtime.blas import load_blas
from nlptx.runtime.processes import Process, forked

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K")


class Pause(Enum):
    """Stands among items where the next may be long in coming, so that results are not held back until it does."""

    PAUSE = 0


PAUSE = Pause.PAUSE


class Workers:
    """A number of workers. They end with their ``with`` block; within it every BLAS has one thread.

    Threads share the memory of the caller, and the interpreter's lock. Forked processes never wait for that lock, but
    see memory as it was at the fork, except for arrays of :mod:`nlptx.runtime.shared_memory`; where the system cannot
    fork, threads do their work. Which of them work, and how many, changes no result.

    Args:
        jobs: number of workers; all cores by default.
        processes: whether processes may do the work that is fit for them. A fork copies locks that other threads hold,
            without the threads, so this is for programs that know all their threads.
    """

    def __init__(self, jobs: int | None = None, *, processes: bool = False) -> None:
        self.jobs = jobs or default_jobs()
        self.processes = processes
        self._limits: list[AbstractContextManager[None]] = []
        self._maps: WeakSet[Generator[Any]] = WeakSet()
        self._ranks = ExitStack()
        self._rank_work: Callable[..., Any] | None = None
        self._starters: Sequence[Callable[[Any], Callable[[], Any]]] = ()

    @classmethod
    def of(cls, jobs: int | Workers | None) -> Workers:
        """Return the workers given, or so many threads. Raises SettingsError unless ``jobs`` is a positive integer."""
        if jobs is not None and not isinstance(jobs, Workers) and (not isinstance(jobs, int) or jobs < 1):
            raise SettingsError(f"`jobs` is {jobs!r}; expected an int of at least 1")
        return jobs if isinstance(jobs, Workers) else cls(jobs)

    def __enter__(self) -> Self:
        limit = _one_blas_thread()
        limit.__enter__()
        self._limits.append(limit)
        return self

    def __exit__(self, *raised: object) -> None:
        for results in list(self._maps):
            results.close()
        self._end_ranks()
        self._limits.pop().__exit__(None, None, None)

    def at_most(self, jobs: int) -> Workers:
        """Return at most ``jobs`` workers of the same kind."""
        return Workers(min(self.jobs, jobs), processes=self.processes)

    def map(self, work: Callable[[T], R], items: Iterable[T], *, isolated: bool = False) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in order; at most ``jobs + 1`` are under way, done or with the caller.

        Args:
            work: function of an item.
            items: asked for one at a time.
            isolated: whether the work changes no memory of the caller but shared arrays, so that processes may do it.

        Raises:
            NlptxError: a process was killed.
        """
        for _, result in self.map_pairs(work, ((None, item) for item in items), isolated=isolated):
            yield result

    def map_pairs(
        self, work: Callable[[T], R], pairs: Iterable[tuple[K, T] | Pause], *, isolated: bool = False
    ) -> Iterator[tuple[K, R]]:
        """Yield ``(kept, work(item))`` for each pair ``(kept, item)``, as :meth:`map`; ``kept`` stays with the caller.

        At a pause, all results are yielded before the next pair is asked for.
        """
        results = self._map(work, pairs, isolated and self.processes)
        self._maps.add(results)
        return results

    def _map(
        self, work: Callable[[T], R], pairs: Iterable[tuple[K, T] | Pause], processes: bool
    ) -> Generator[tuple[K, R]]:
        if self.jobs == 1:
            for pair in pairs:
                if pair is not PAUSE:
                    yield pair[0], work(pair[1])
            return
        waiting: deque[tuple[K, Future[R]]] = deque()
        with _submitter(work, self.jobs, processes) as submit:
            for pair in pairs:
                if pair is not PAUSE:
                    waiting.append((pair[0], submit(pair[1])))
                while waiting and (pair is PAUSE or len(waiting) > self.jobs):
                    kept, future = waiting.popleft()
                    yield kept, future.result()
            while waiting:
                kept, future = waiting.popleft()
                yield kept, future.result()

    def run_all(self, work: Callable[[T, int], R], task: T) -> list[R]:
        """Return ``work(task, rank)`` for each rank from 0 to ``jobs - 1``; all work at the same time.

        Rank 0 is the caller. The others, processes if they may be, begin with the first task and then wait for more of
        the same work. Sending them a task takes about a tenth of a millisecond.

        Raises:
            NlptxError: a process was killed.
        """
        if work != self._rank_work:
            self._end_ranks()
            self._starters = self._ranks.enter_context(_rank_starters(work, self.jobs, self.processes))
            self._rank_work = work
        try:
            waits = [start(task) for start in self._starters]
            outcomes = [_outcome(work, task, 0), *map(_outcome, waits)]
        except BaseException:
            self._end_ranks()  # some results are still to come, and are not those of the next task
            raise
        for _, error in outcomes:
            if error is not None:
                raise error
        return [result for result, _ in outcomes]

    def _end_ranks(self) -> None:
        self._rank_work, self._starters = None, ()
        self._ranks.close()


# One worker, which is the caller, for functions that are given none.
SERIAL = Workers(1)


def default_jobs() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Limit every BLAS to one thread for the length of a block: NumPy's, and SciPy's own if SciPy is in use."""
    from threadpoolctl import threadpool_limits

    if "scipy" in sys.modules:
        # Or it would be loaded later, without a limit. L-BFGS, which uses it, holds the interpreter's lock.
        load_blas("scipy.linalg", threads=1)
    with threadpool_limits(1):
        yield


@contextmanager
def _submitter(work: Callable[[T], R], jobs: int, processes: bool) -> Iterator[Callable[[T], Future[R]]]:
    """Yield a function that has a worker do ``work(item)``; to each process belongs a thread that waits for it."""
    idle: SimpleQueue[Process] = SimpleQueue()

    def ask(item: T) -> R:
        process = idle.get()
        try:
            result: R = process.start(item)()
        finally:
            idle.put(process)
        return result

    pool = ThreadPoolExecutor(jobs)
    try:
        with forked([work] * jobs if processes else []) as started:
            for process in started:
                idle.put(process)
            try:
                yield lambda item: pool.submit(ask if started else work, item)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
    finally:
        pool.shutdown()


@contextmanager
def _rank_starters(
    work: Callable[[T, int], R], jobs: int, processes: bool
) -> Iterator[Sequence[Callable[[T], Callable[[], R]]]]:
    """Yield for each rank but 0 a function that starts a task and returns one that waits for the result."""
    works = [partial(_of_rank, work, rank) for rank in range(1, jobs)]
    with forked(works if processes else []) as started, ThreadPoolExecutor(max(1, len(works))) as pool:
        yield [process.start for process in started] or [partial(_start, pool, of_rank) for of_rank in works]


def _of_rank(work: Callable[[T, int], R], rank: int, task: T) -> R:
    return work(task, rank)


def _start(pool: ThreadPoolExecutor, work: Callable[[T], R], task: T) -> Callable[[], R]:
    return pool.submit(work, task).result


def _outcome(work: Callable[..., R], *arguments: Any) -> tuple[Any, Exception | None]:
    """Return a result, or the error to raise once all have ended."""
    try:
        return work(*arguments), None
    except Exception as error:
        return None, error
