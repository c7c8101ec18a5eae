"""Work in order, shared among workers, with little of it in memory at once."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TypeVar

from nlptx.runtime.executor import workers

T = TypeVar("T")
R = TypeVar("R")


def in_order(work: Callable[[T], R], items: Iterable[T], jobs: int, *, processes: bool = False) -> Iterator[R]:
    """Yield ``work(item)`` for each item, in order; at most ``jobs + 1`` are under way, done or with the caller.

    The workers are started for each call, which leaves nothing to shut down. Threads take a fraction of a millisecond
    for it, and NumPy and SciPy release the interpreter lock; processes take some milliseconds, and never wait for that
    lock, see :func:`nlptx.runtime.executor.workers`.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[R]] = deque()
    with workers(work, jobs, processes=processes) as submit:
        for item in items:
            waiting.append(submit(item))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def default_jobs() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
