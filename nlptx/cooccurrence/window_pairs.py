"""Counts pairs of nearby words exactly, one complete row of the matrix after another.

The positions in a block of documents are grouped by word, because the row of a word in the matrix depends only on the
text around this word. If the word is frequent, the weights of its pairs are added up in a dense vector, which stays in
the processor cache. For a rare word, most entries of a dense vector would be 0, so the pairs of many rare words are
sorted together, and the weights of equal pairs are summed. Within a block, each row is computed once and in order, so
there are no partial rows to merge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.cooccurrence.inverted_index import InvertedIndex
from nlptx.runtime.radix_sort import radix_argsort

# Maximum window for which weights 1/d are stored exactly, as multiples of 1/lcm(1..window). For windows longer than
# _MAX_EXACT_WINDOW, 1/d is rounded to multiples of 1/_FIXED_POINT.
_MAX_EXACT_WINDOW = 20
_FIXED_POINT = 1 << 26
# Number of pairs that are processed together, small enough for their arrays to stay in the cache.
_PAIRS_AT_A_TIME = 1 << 17
# A row with fewer than _DENSE_PAIRS + V / _DENSE_WORDS pairs is counted by sorting its pairs. At this limit, sorting
# takes as long as adding up the weights of the pairs in a dense vector with one entry per word.
_DENSE_PAIRS, _DENSE_WORDS = 4000, 10

# A range of rows of the matrix: the index of the first row, and the index of the last row plus 1.
Task = tuple[int, int]


def unit_weights(weighting: str, window: int) -> tuple[NDArray[np.int64], int]:
    """Return the weights of distances 1..window as multiples of a unit, and the number of units in a weight of 1.

    Harmonic weights 1/d are exact if the window is at most 20, and otherwise rounded to multiples of 2^-26.
    Sums of units are exact in float64 up to 2^53 units.

    >>> unit_weights("harmonic", 3)
    (array([6, 3, 2]), 6)
    """
    distances = range(1, window + 1)
    if weighting == "uniform":
        return np.ones(window, np.int64), 1
    if weighting == "linear":
        return np.array([window - d for d in distances], np.int64), window
    units_per_count = math.lcm(*distances) if window <= _MAX_EXACT_WINDOW else _FIXED_POINT
    return np.array([round(units_per_count / d) for d in distances], np.int64), units_per_count


@dataclass(frozen=True)
class SparseRows:
    """Consecutive rows of a sparse matrix.

    Args:
        columns: (n,) int32 column indices, sorted within each row.
        sums: (n,) float64 entries, each an integer number of units.
        lengths: (rows,) int64 number of entries in each row.
    """

    columns: NDArray[np.int32]
    sums: NDArray[np.float64]
    lengths: NDArray[np.int64]


class PairCounter:
    """Counts pairs of words that are at most ``len(units)`` positions apart in the same document.

    Entry [a, b] of the matrix is the sum of the weights of all counted pairs of the words a and b, in either order, so
    the matrix is symmetric. A pair of two equal words counts twice in entry [a, a].

    Args:
        index: index of the documents, built with ``reach=len(units)``.
        units: (reach,) int64 weights of pairs at distances 1, 2, ..., in the units of :func:`unit_weights`. There are
            fewer of them than the setting ``window`` if all documents are short.

    Attributes:
        max_entries: maximum number of entries in the rows of a task.
    """

    def __init__(self, index: InvertedIndex, units: NDArray[np.int64]) -> None:
        text = index.text
        self.index = index
        self.words = len(index.starts) - 1
        self.weights = np.concatenate([units[::-1], [0], units]).astype(np.float64)
        self.span = len(self.weights)  # positions in a window: those on each side, and the word itself
        # Element i of `self.windows` is the window that begins at position i. NumPy treats a window as a single item,
        # so copying a window takes one operation.
        windows = len(text) - self.span + 1
        self.windows = np.ndarray((max(windows, 0),), f"V{4 * self.span}", text.data, 0, (4,))
        self.step = max(1, _PAIRS_AT_A_TIME // self.span)
        self.tiled = np.tile(self.weights, self.step)
        self.positions_before = index.positions_before()
        self.max_entries = max(self.words, self.step * self.span)

    def pairs(self, rows: Task) -> int:
        """Return the number of pairs to process for a range of rows, including pairs with padding."""
        start, stop = rows
        return int(self.positions_before[stop] - self.positions_before[start]) * self.span

    def tasks(self) -> Iterator[Task]:
        """Yield tasks that cover all rows in order: one task per frequent word, and one per group of rare words."""
        dense = (_DENSE_PAIRS + self.words // _DENSE_WORDS) // self.span
        row = 0
        while row < self.words:
            stop = row + 1
            if self.positions_before[stop] - self.positions_before[row] <= dense:
                max_positions = self.positions_before[row] + self.step
                full = int(np.searchsorted(self.positions_before, max_positions, side="right")) - 1
                stop = min(max(full, stop), self.words)
            yield row, stop
            row = stop

    def count(self, rows: Task) -> SparseRows:
        """Count the word pairs of a range of rows, and return the rows."""
        start, stop = rows
        return self._row(start) if stop == start + 1 else self._sorted(start, stop)

    def _around(self, start: int, stop: int) -> Iterator[NDArray[np.int32]]:
        """Yield the windows around words with ids ``start`` to ``stop`` (exclusive), ``step`` windows at a time."""
        positions = self.index.windows_of(start, stop)
        for first in range(0, len(positions), self.step):
            yield self.windows[positions[first : first + self.step]].view(np.int32)

    def _row(self, word: int) -> SparseRows:
        """Return the row of one word, by adding up the weights of its pairs in a dense vector."""
        row = np.zeros(self.words + 1)
        for around in self._around(word, word + 1):
            np.add.at(row, around, self.tiled[: len(around)])
        columns = np.flatnonzero(row[: self.words] != 0)  # NumPy searches booleans six times as fast as floats
        return SparseRows(columns.astype(np.int32), row[columns], np.array([len(columns)]))

    def _sorted(self, start: int, stop: int) -> SparseRows:
        """Return the rows of several words, by sorting their pairs and summing the weights of equal pairs."""
        around = list(self._around(start, stop))
        if not around:  # none of these words occurs in this part of the corpus
            return SparseRows(np.empty(0, np.int32), np.empty(0), np.zeros(stop - start, np.int64))
        words = np.concatenate(around).reshape(-1, self.span)
        columns = words.ravel()
        rows = np.repeat(words[:, self.span // 2] - start, self.span)
        order = radix_argsort(columns)
        order = order[radix_argsort(rows[order])]
        columns, rows = columns[order], rows[order]
        changes = (columns[1:] != columns[:-1]) | (rows[1:] != rows[:-1])
        starts = np.flatnonzero(np.concatenate([[True], changes]))
        sums = np.add.reduceat(self.tiled.take(order), starts)
        rows, columns = rows[starts], columns[starts]
        kept = np.flatnonzero((columns < self.words) & (sums > 0))
        return SparseRows(columns[kept], sums[kept], np.bincount(rows[kept], minlength=stop - start))
