"""Runs work in parallel in threads or forked processes, while every BLAS is limited to one thread.

Because only the workers run in parallel, sums do not depend on the number of cores or BLAS threads, and BLAS threads do
not compete with the workers. Results are returned in the order of the items.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from enum import Enum
from functools import partial
from itertools import chain, islice
from operator import index
from typing import Any, Self, TypeVar

from nlptx.errors import SettingsError
from nlptx.runtime import blas_limit
from nlptx.runtime.processes import Process, forked, is_only_thread
from nlptx.runtime.resources import useful_jobs

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K")
S = TypeVar("S")

# Function that stores a value where the tasks of :meth:`Workers.map_shared` can access it, and returns a function that
# reads it.
Store = Callable[[Any], Callable[[], Any]]


class Pause(Enum):
    """Marker between items: the next item may take a while to arrive, so pending results should be yielded first."""

    PAUSE = 0


PAUSE = Pause.PAUSE


class Workers:
    """A pool of workers, used in a ``with`` block. Within the block, every BLAS uses one thread.

    Threads share the memory and the interpreter lock of the caller. Forked processes never wait for the interpreter
    lock, but they see the memory as it was at the time of the fork, except for arrays of
    :mod:`nlptx.runtime.shared_memory`. If the system cannot fork, threads are used instead of processes. Neither the
    kind nor the number of workers changes any result.

    Args:
        jobs: number of workers; by default, one per core.
        processes: whether processes may be used for work that allows it. A fork copies locks that other threads hold,
            but not these threads, so nothing releases the copied locks. Set ``processes`` only in programs that control
            all their threads, or that have no other threads (see :func:`.is_only_thread`).
    """

    # Function that stores a value for workers on other machines; see ClusterWorkers. The workers of this class need no
    # such function, because they can read the memory of this process or have a copy of it.
    store: Store | None = None

    def __init__(self, jobs: int | None = None, *, processes: bool = False) -> None:
        self.jobs = useful_jobs(jobs)
        self.processes = processes
        self._ranks: Sequence[Process] = ()
        self._rank_work: Callable[..., Any] | None = None
        self._stack = ExitStack()
        self._entered: list[blas_limit.Hold] = []

    @classmethod
    def of(cls, jobs: int | Workers | None, *, prefer_processes: bool = False) -> Workers:
        """Return ``jobs`` itself if it is a Workers object; otherwise return a new pool of ``jobs`` workers.

        Args:
            jobs: Workers object or number of workers; None for one per core.
            prefer_processes: whether the work takes so long that starting processes is worthwhile. If forking is not
                safe, threads are used instead.

        Raises:
            SettingsError: ``jobs`` is neither a Workers object nor None nor a positive integer.
        """
        if isinstance(jobs, Workers):
            return jobs
        if jobs is not None and (isinstance(jobs, bool) or not hasattr(jobs, "__index__") or jobs < 1):
            raise SettingsError(f"`jobs` is {jobs!r}; expected an int of at least 1")
        return cls(None if jobs is None else index(jobs), processes=prefer_processes and is_only_thread())

    def at_most(self, jobs: int) -> Workers:
        """Return a new pool with the same kind of workers, but at most ``jobs`` of them, all on this machine."""
        return Workers(min(self.jobs, jobs), processes=self.processes)

    def local(self) -> Workers:
        """Return a new pool with the same kind and number of workers, all on this machine.

        The new pool does not use the cluster of a :class:`.ClusterWorkers`, and another thread may use the new pool
        while this pool is in use.
        """
        return self.at_most(self.jobs)

    def __enter__(self) -> Self:
        self._entered.append(blas_limit.LIMIT.acquire())
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            self._end_ranks()
        finally:
            blas_limit.LIMIT.release(self._entered.pop())

    def map(self, work: Callable[[T], R], items: Iterable[T], *, isolated: bool = False) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in order.

        At most ``jobs + 1`` items are in memory at a time, including finished items and the item whose result the
        caller is using.

        Args:
            work: function to call with each item.
            items: the items, which are requested one at a time.
            isolated: whether ``work`` leaves the caller's memory unchanged, except for shared arrays, so that processes
                can be used.

        Raises:
            NlptxError: a process was killed.
        """
        for _, result in self.map_pairs(work, ((None, item) for item in items), isolated=isolated):
            yield result

    def map_pairs(
        self, work: Callable[[T], R], pairs: Iterable[tuple[K, T] | Pause], *, isolated: bool = False
    ) -> Iterator[tuple[K, R]]:
        """Do the same as :meth:`map`, but yield ``(kept, work(item))`` for each pair ``(kept, item)``.

        ``kept`` is not passed to the workers. When ``pairs`` yields :data:`PAUSE`, all results are yielded before the
        next pair is requested.
        """
        if self.jobs == 1:
            for pair in pairs:
                if pair is not PAUSE:
                    yield pair[0], work(pair[1])
            return
        copies = [work] * self.jobs if isolated and self.processes else []
        if not copies:  # processes must be forked before a pair is requested, because the request may start a thread
            pairs = iter(pairs)
            head = list(islice(pairs, 2))
            if len(head) == 1 and not isinstance(head[0], Pause):  # a thread would save no time
                yield head[0][0], work(head[0][1])
                return
            pairs = chain(head, pairs)
            del head  # the first two items need not stay in memory
        waiting: deque[tuple[K, Future[R]]] = deque()
        with ThreadPoolExecutor(self.jobs) as pool, forked(copies) as started:
            do = partial(_ask, list(started)) if started else work
            try:
                for pair in chain(pairs, [PAUSE]):
                    if pair is not PAUSE:
                        waiting.append((pair[0], pool.submit(do, pair[1])))
                    while waiting and (pair is PAUSE or len(waiting) > self.jobs):
                        kept, future = waiting.popleft()
                        yield kept, future.result()
            finally:
                for _, future in waiting:
                    future.cancel()

    def map_shared(
        self, work: Callable[[S, T], R], shared: S, items: Iterable[T], *, threads_only: bool = False
    ) -> Iterator[R]:
        """Yield ``work(shared, item)`` for each item, in order.

        On a cluster, :class:`nlptx.cluster.cluster_workers.ClusterWorkers` overrides this method.

        Args:
            work: function at the top level of a module. The function must not modify ``shared``.
            shared: data that all items need. The data must be picklable, and so must the items and the results.
            items: the items, which are requested one at a time.
            threads_only: whether to use only threads on this machine, because they access the items without copying
                them.

        Raises:
            NlptxError: a process was killed.
        """
        return self.map(partial(work, shared), items, isolated=not threads_only)

    def run_all(self, work: Callable[[T, int], R], task: T) -> list[R]:
        """Return ``work(task, rank)`` for each rank from 0 to ``jobs - 1``; all ranks run at the same time.

        If processes are used, the caller is rank 0. The other ranks are forked for the first task, and then wait for
        more tasks with the same ``work``. The overhead per task is about a tenth of a millisecond.

        Raises:
            NlptxError: a process was killed.
        """
        if work != self._rank_work:
            self._end_ranks()
            others = range(1, self.jobs) if self.processes else ()
            functions = [lambda task, rank=rank: work(task, rank) for rank in others]
            self._ranks = self._stack.enter_context(forked(functions))
            self._rank_work = work
        if not self._ranks:
            return list(self.map(partial(work, task), range(self.jobs)))
        try:
            waits = [process.start(task) for process in self._ranks]
            outcomes = [_outcome(work, task, 0), *map(_outcome, waits)]
        except BaseException:
            self._end_ranks()  # otherwise, pending results would be mistaken for results of the next task
            raise
        for _, error in outcomes:
            if error is not None:
                raise error
        return [result for result, _ in outcomes]

    def _end_ranks(self) -> None:
        self._rank_work, self._ranks = None, ()
        self._stack.close()


# A single worker, which is the calling thread; it is the default of optional ``workers`` arguments.
SERIAL = Workers(1)


def _ask(idle: list[Process], item: Any) -> Any:
    """Let an idle process work on an item.

    There are as many processes as threads, so a thread that needs a process always finds an idle one.
    """
    process = idle.pop()
    try:
        return process.start(item)()
    finally:
        idle.append(process)


def _outcome(work: Callable[..., Any], *arguments: Any) -> tuple[Any, Exception | None]:
    """Return (result, None) or (None, error). The caller raises the error after all ranks have finished."""
    try:
        return work(*arguments), None
    except Exception as error:
        return None, error
