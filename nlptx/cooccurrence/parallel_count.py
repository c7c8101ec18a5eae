"""Counts the pairs of nearby words with several workers.

Each task counts the pairs in a range of rows of the matrix. Tasks are combined into groups that take about the same
time, and each worker receives one group after another. Rows are returned through a ring of shared buffers, so that no
large data passes through the pipes of worker processes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from nlptx.cooccurrence.window_pairs import PairCounter, SparseRows, Task
from nlptx.runtime.shared_memory import shared_zeros
from nlptx.runtime.workers import Workers

# Maximum total number of entries in all buffers, unless a single task needs a larger buffer.
_ENTRIES = 1 << 21
# Approximate number of pairs in a group of tasks. Counting a group takes a few hundredths of a second.
_PAIRS_PER_GROUP = 1 << 21


def count_pairs(counter: PairCounter, workers: Workers) -> Iterator[SparseRows]:
    """Yield all V rows of the matrix in order, several at a time.

    Yielded rows may be overwritten when the next rows are requested.

    Args:
        counter: object that counts the pairs in one block of documents, and divides the rows into tasks.
        workers: pool of threads or processes; the number of workers does not change the counts.
    """
    # Limit the number of workers to approximately the number of groups.
    workers = workers.at_most(1 + counter.pairs((0, counter.words)) // _PAIRS_PER_GROUP)
    size = workers.jobs + 1  # one buffer per group in progress, and one for the group that the caller is using
    ring = _BufferRing(size, max(counter.max_entries, _ENTRIES // size), counter.words)

    def work(numbered: tuple[int, list[Task]]) -> tuple[int, int]:
        number, group = numbered
        return ring.fill(number, map(counter.count, group))

    groups = _task_groups(counter, ring.entries)
    for number, filled in enumerate(workers.map(work, enumerate(groups), isolated=True)):
        yield ring.rows(number, *filled)


def _task_groups(counter: PairCounter, entries: int) -> Iterator[list[Task]]:
    """Yield groups of tasks; a group has about _PAIRS_PER_GROUP pairs, and at most ``entries`` entries in its rows."""
    group: list[Task] = []
    pairs = max_entries = 0
    for task in counter.tasks():
        start, stop = task
        task_pairs = counter.pairs(task)
        task_entries = min(task_pairs, (stop - start) * counter.words)
        if group and (pairs + task_pairs > _PAIRS_PER_GROUP or max_entries + task_entries > entries):
            yield group
            group, pairs, max_entries = [], 0, 0
        group.append(task)
        pairs += task_pairs
        max_entries += task_entries
    if group:
        yield group


class _BufferRing:
    """Shared buffers, each for the rows of one group of tasks at a time. Group number i uses buffer i modulo ``size``.

    Args:
        size: number of buffers.
        entries: maximum number of entries in a buffer.
        rows: maximum number of rows in a buffer.
    """

    def __init__(self, size: int, entries: int, rows: int) -> None:
        self.size = size
        self.entries = entries
        self.lengths = shared_zeros((size, rows), np.int64)
        self.columns = shared_zeros((size, entries), np.int32)
        self.sums = shared_zeros((size, entries), np.float64)

    def fill(self, number: int, parts: Iterable[SparseRows]) -> tuple[int, int]:
        """Write the rows of a group to its buffer. Return the number of rows and the number of their entries."""
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
        """Return the rows of a group, without copying them."""
        buffer = number % self.size
        return SparseRows(self.columns[buffer, :entries], self.sums[buffer, :entries], self.lengths[buffer, :rows])
