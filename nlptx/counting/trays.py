"""Counting pairs on all cores.

Tasks are handed out in groups of about the same work. Their rows come back in trays: memory that worker processes share
with the one that started them, so that nothing has to go through a pipe.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nlptx.counting.pairs import PairCounter, Rows, Task
from nlptx.parallel import in_order
from nlptx.sharing import shared_empty

# Entries that fit all trays, unless one task needs more.
_ENTRIES = 1 << 21
# Pairs to count for a group of tasks: some hundredths of a second.
_PAIRS = 1 << 21


def count_pairs(counter: PairCounter, jobs: int, *, processes: bool = False) -> Iterator[Rows]:
    """Yield all V rows, in order, some at a time, which stand where they do only until the next are asked for.

    Args:
        counter: does the tasks.
        jobs: workers. They do not change the counts.
        processes: whether they are processes, see :func:`nlptx.workers.workers`; else they are threads.
    """
    count = jobs + 1  # the group being read, and those under way meanwhile
    trays = _Trays(count, max(counter.most, _ENTRIES // count))

    def work(task: tuple[int, list[Task]]) -> NDArray[np.int64]:
        number, group = task
        return trays.fill(number, map(counter.count, group))

    groups = _grouped(counter, trays.entries)
    for number, lengths in enumerate(in_order(work, enumerate(groups), jobs, processes=processes)):
        yield trays.rows(number, lengths)


def _grouped(counter: PairCounter, entries: int) -> Iterator[list[Task]]:
    """Group tasks whose rows have so many entries at most, and about as many pairs as other groups."""
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
    """

    def __init__(self, count: int, entries: int) -> None:
        self.count = count
        self.entries = entries
        self.columns = shared_empty((count, entries), np.int32)
        self.sums = shared_empty((count, entries), np.float64)

    def fill(self, number: int, parts: Iterable[Rows]) -> NDArray[np.int64]:
        """Put rows into a tray and return their lengths."""
        columns, sums = self.columns[number % self.count], self.sums[number % self.count]
        lengths = []
        start = 0
        for rows in parts:
            stop = start + len(rows.columns)
            columns[start:stop] = rows.columns
            sums[start:stop] = rows.sums
            lengths.append(rows.lengths)
            start = stop
        return np.concatenate(lengths)

    def rows(self, number: int, lengths: NDArray[np.int64]) -> Rows:
        """Return the rows in a tray."""
        tray, stop = number % self.count, lengths.sum()
        return Rows(self.columns[tray, :stop], self.sums[tray, :stop], lengths)
