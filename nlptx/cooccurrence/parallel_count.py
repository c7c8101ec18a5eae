"""Counting pairs on all cores.

Tasks are handed out in groups of about the same work. Their rows come back in trays: memory that worker processes share
with the one that started them, so that nothing large has to go through a pipe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from nlptx.cooccurrence.window_pairs import PairCounter, SparseRows, Task
from nlptx.runtime.parallel import in_order
from nlptx.runtime.shared_memory import shared_empty

# Entries that fit all trays, unless one task needs more.
_ENTRIES = 1 << 21
# Pairs to count for a group of tasks: some hundredths of a second.
_PAIRS = 1 << 21


def count_pairs(counter: PairCounter, jobs: int, *, processes: bool = False) -> Iterator[SparseRows]:
    """Yield all V rows, in order, some at a time, which stand where they do only until the next are asked for.

    Args:
        counter: does the tasks.
        jobs: workers. They do not change the counts.
        processes: whether they are processes, see :func:`nlptx.runtime.executor.workers`; else they are threads.
    """
    jobs = min(jobs, 1 + counter.pairs((0, counter.words)) // _PAIRS)  # no more than there are groups
    count = jobs + 1  # the group being read, and those under way meanwhile
    trays = _Trays(count, max(counter.most, _ENTRIES // count), counter.words)

    def work(task: tuple[int, list[Task]]) -> tuple[int, int]:
        number, group = task
        return trays.fill(number, map(counter.count, group))

    groups = _task_groups(counter, trays.entries)
    for number, size in enumerate(in_order(work, enumerate(groups), jobs, processes=processes)):
        yield trays.rows(number, *size)


def _task_groups(counter: PairCounter, entries: int) -> Iterator[list[Task]]:
    """Yield the tasks in groups of about as many pairs each, whose rows have so many entries at most."""
    group: list[Task] = []
    pairs = most = 0
    for task in counter.tasks():
        first, after = task
        own = counter.pairs(task)
        own_most = min(own, (after - first) * counter.words)
        if group and (pairs + own > _PAIRS or most + own_most > entries):
            yield group
            group, pairs, most = [], 0, 0
        group.append(task)
        pairs += own
        most += own_most
    if group:
        yield group


class _Trays:
    """Room for the rows of some groups at a time; a group's number says which tray is its own.

    Args:
        count: trays.
        entries: that fit each.
        rows: that fit each.
    """

    def __init__(self, count: int, entries: int, rows: int) -> None:
        self.count = count
        self.entries = entries
        self.lengths = shared_empty((count, rows), np.int64)
        self.columns = shared_empty((count, entries), np.int32)
        self.sums = shared_empty((count, entries), np.float64)

    def fill(self, number: int, parts: Iterable[SparseRows]) -> tuple[int, int]:
        """Put rows into a tray; return how many they are, and how many entries they have."""
        tray = number % self.count
        filled = entries = 0
        for rows in parts:
            stop, end = filled + len(rows.lengths), entries + len(rows.columns)
            self.lengths[tray, filled:stop] = rows.lengths
            self.columns[tray, entries:end] = rows.columns
            self.sums[tray, entries:end] = rows.sums
            filled, entries = stop, end
        return filled, entries

    def rows(self, number: int, rows: int, entries: int) -> SparseRows:
        """Return the rows in a tray."""
        tray = number % self.count
        return SparseRows(self.columns[tray, :entries], self.sums[tray, :entries], self.lengths[tray, :rows])
