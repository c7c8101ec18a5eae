"""Work in threads, in order, with little of it in memory at once. NumPy and SciPy release the interpreter lock."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TypeVar

from nlptx.workers import workers

T = TypeVar("T")
R = TypeVar("R")


def in_order(work: Callable[[T], R], items: Iterable[T], jobs: int) -> Iterator[R]:
    """Yield ``work(item)`` for each item, in order; at most ``jobs + 1`` results wait at a time.

    The threads are started for each call, which takes a fraction of a millisecond and leaves nothing to shut down.
    """
    if jobs == 1:
        yield from map(work, items)
        return
    waiting: deque[Future[R]] = deque()
    with workers(work, jobs) as submit:
        for item in items:
            waiting.append(submit(item))
            if len(waiting) > jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def default_jobs() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
