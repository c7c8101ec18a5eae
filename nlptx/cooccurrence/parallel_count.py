"""Counting pairs with all workers.

Tasks are handed out in groups of about the same work. The rows come back in a ring of shared buffers, so that nothing
large goes through the pipes of worker processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from nlptx.cooccurrence.window_pairs import PairCounter, SparseRows, Task
from nlptx.runtime.shared_memory import shared_empty
from nlptx.runtime.workers import Workers

# Entries that fit in all buffers together, unless one task needs more.
_ENTRIES = 1 << 21
# Pairs in a group of tasks: some hundredths of a second of work.
_PAIRS = 1 << 21


def count_pairs(counter: PairCounter, workers: Workers) -> Iterator[SparseRows]:
    """Yield all V rows in order, some at a time. They are overwritten when the next ones are asked for.

    Args:
        counter: counts the rows of a task.
        workers: threads, or processes. They do not change the counts.
    """
    workers = workers.at_most(1 + counter.pairs((0, counter.words)) // _PAIRS)  # about the number of groups
    size = workers.jobs + 1  # as many groups as are under way or with the caller
    ring = _BufferRing(size, max(counter.most, _ENTRIES // size), counter.words)

    def work(numbered: tuple[int, list[Task]]) -> tuple[int, int]:
        number, group = numbered
        return ring.fill(number, map(counter.count, group))

    groups = _task_groups(counter, ring.entries)
    for number, filled in enumerate(workers.map(work, enumerate(groups), isolated=True)):
        yield ring.rows(number, *filled)


def _task_groups(counter: PairCounter, entries: int) -> Iterator[list[Task]]:
    """Yield the tasks in groups of about ``_PAIRS`` pairs, whose rows have at most ``entries`` entries."""
    group: list[Task] = []
    pairs = max_entries = 0
    for task in counter.tasks():
        first, after = task
        task_pairs = counter.pairs(task)
        task_entries = min(task_pairs, (after - first) * counter.words)
        if group and (pairs + task_pairs > _PAIRS or max_entries + task_entries > entries):
            yield group
            group, pairs, max_entries = [], 0, 0
        group.append(task)
        pairs += task_pairs
        max_entries += task_entries
    if group:
        yield group


class _BufferRing:
    """Shared buffers for the rows of some groups at a time. The number of a group says which buffer it gets.

    Args:
        size: number of buffers.
        entries: entries that fit in each.
        rows: rows that fit in each.
    """

    def __init__(self, size: int, entries: int, rows: int) -> None:
        self.size = size
        self.entries = entries
        self.lengths = shared_empty((size, rows), np.int64)
        self.columns = shared_empty((size, entries), np.int32)
        self.sums = shared_empty((size, entries), np.float64)

    def fill(self, number: int, parts: Iterable[SparseRows]) -> tuple[int, int]:
        """Put the rows of a group into its buffer; return the number of rows and of their entries."""
        buffer = number % self.size
        filled = entries = 0
        for rows in parts:
            stop, end = filled + len(rows.lengths), entries + len(rows.columns)
            self.lengths[buffer, filled:stop] = rows.lengths
            self.columns[buffer, entries:end] = rows.columns
            self.sums[buffer, entries:end] = rows.sums
            filled, entries = stop, end
        return filled, entries

    def rows(self, number: int, rows: int, entries: int) -> SparseRows:
        """Return the rows of a group, which are not copied."""
        buffer = number % self.size
        return SparseRows(self.columns[buffer, :entries], self.sums[buffer, :entries], self.lengths[buffer, :rows])
