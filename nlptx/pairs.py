"""Counting pairs of nearby words, exactly: a row of the matrix at a time.

The positions of a text are grouped by the word that stands there. The words around the positions of one word
make that word's row of the matrix. A frequent word's row is summed in a dense vector, which stays in the cache;
for rare words that would waste time on zeros, so the pairs of many of them are sorted together, and runs of
equal pairs summed. Rows come out in order and complete, so nothing has to be merged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.parallel import in_order

# Up to this window 1/d is a whole number of 1/lcm(1..window) units; beyond, it is rounded to this part of 1.
_LARGEST_EXACT_WINDOW = 20
_FIXED_POINT = 1 << 26
# Pairs handled at once: few enough for their arrays to stay in the cache.
_PAIRS = 1 << 17
# Summing a row in a dense vector costs as much as sorting so many pairs, and one for every few words.
_DENSE_PAIRS, _DENSE_WORDS = 4000, 10
# Parts of a block that are grouped by word on their own, so that threads can share the work.
_SEGMENTS = 4


def unit_weights(weighting: str, window: int) -> tuple[NDArray[np.int64], int]:
    """Return the weights of distances 1..window in whole units, and how many units make 1.

    Harmonic weights 1/d are exact up to window 20 and rounded to 2^-26 beyond. Sums of units are exact in
    float64 up to 2^53 of them.

    >>> unit_weights("harmonic", 3)
    (array([6, 3, 2]), 6)
    """
    distances = range(1, window + 1)
    if weighting == "uniform":
        return np.ones(window, np.int64), 1
    if weighting == "linear":
        return np.array([window - d for d in distances], np.int64), window
    one = math.lcm(*distances) if window <= _LARGEST_EXACT_WINDOW else _FIXED_POINT
    return np.array([round(one / d) for d in distances], np.int64), one


@dataclass(frozen=True)
class Rows:
    """Some rows of a sparse matrix.

    Args:
        columns: (n,) int32, sorted within each row.
        sums: (n,) float64 whole numbers.
        lengths: (rows,) int64, entries of each row.
    """

    columns: NDArray[np.int32]
    sums: NDArray[np.float64]
    lengths: NDArray[np.int64]


def count_pairs(
    ids: NDArray[np.int32], lengths: NDArray[np.int64], words: int, units: NDArray[np.int64], jobs: int
) -> Iterator[Rows]:
    """Count the pairs of words of one document at most ``len(units)`` positions apart.

    Entry [a, b] sums over the positions of ``a`` and those of ``b`` around them, so the matrix is symmetric.

    Args:
        ids: (N,) int32, word at each position.
        lengths: (documents,) int64, positions of each document, at least 1.
        words: V, the number of words.
        units: (window,) int64, what a pair at distance 1, 2, ... adds.
        jobs: threads.

    Yields:
        all V rows, in order, some at a time.
    """
    units = units[: max(int(lengths.max(initial=1)) - 1, 1)]  # no document has pairs farther apart
    block = _Block(ids, lengths, words, units, jobs)
    return in_order(block.count, block.tasks(), jobs)


class _Block:
    """A text ready for counting; see :func:`count_pairs`."""

    def __init__(
        self, ids: NDArray[np.int32], lengths: NDArray[np.int64], words: int, units: NDArray[np.int64], jobs: int
    ) -> None:
        self.words = words
        reach = len(units)
        self.span = 2 * reach + 1
        self.weights = np.concatenate([units[::-1], [0], units]).astype(np.float64)
        # Between documents, and at both ends, stands a word that is none, so that no window reaches across.
        text = np.full(len(ids) + reach * (len(lengths) + 1), words, np.int32)
        places = np.arange(len(ids), dtype=np.int32)  # of the words in `windows`
        places += np.repeat(np.arange(0, reach * len(lengths), reach, dtype=np.int32), lengths)
        text[places + np.int32(reach)] = ids
        # The window around a place, starting `reach` before it, as one item: copied at once it costs least.
        self.windows = np.ndarray((len(text) - 2 * reach,), f"V{4 * self.span}", text.data, 0, (4,))
        cuts = np.linspace(0, len(ids), _SEGMENTS + 1).astype(int)
        shares = [(ids[a:b], places[a:b]) for a, b in pairwise(cuts)]
        self.groups = list(in_order(lambda share: _grouped(*share, words), shares, jobs))
        self.first = np.sum([first for _, first in self.groups], axis=0)
        self.step = max(1, _PAIRS // self.span)
        self.tiled = np.tile(self.weights, self.step)

    def tasks(self) -> Iterator[tuple[int, int]]:
        """Yield ranges of rows: a frequent word alone, rare ones together."""
        dense = (_DENSE_PAIRS + self.words // _DENSE_WORDS) // self.span
        row = 0
        while row < self.words:
            if self.first[row + 1] - self.first[row] > dense:
                after = row + 1
            else:
                after = int(np.searchsorted(self.first, self.first[row] + self.step, side="right")) - 1
                after = min(max(after, row + 1), self.words)
            yield row, after
            row = after

    def count(self, rows: tuple[int, int]) -> Rows:
        first, after = rows
        return self._row(first) if after == first + 1 else self._sorted(first, after)

    def _positions(self, first: int, after: int) -> list[NDArray[np.int32]]:
        return [places[starts[first] : starts[after]] for places, starts in self.groups]

    def _row(self, word: int) -> Rows:
        """Sum one row in a dense vector: the product of a (V, positions) matrix, a window a column, with ones."""
        row = np.zeros(self.words + 1)
        for positions in self._positions(word, word + 1):
            for start in range(0, len(positions), self.step):
                some = positions[start : start + self.step]
                around = self.windows[some].view(np.int32)
                starts = np.arange(0, len(around) + 1, self.span, dtype=np.int32)
                shape = (len(row), len(some))
                row += sp.csc_matrix((self.tiled[: len(around)], around, starts), shape) @ np.ones(len(some))
        columns = np.flatnonzero(row[: self.words])
        return Rows(columns.astype(np.int32), row[columns], np.array([len(columns)]))

    def _sorted(self, first: int, after: int) -> Rows:
        """Sum several rows: a pair becomes the integer (row, column, place in the window); equal ones are summed."""
        around = self.windows[np.concatenate(self._positions(first, after))].view(np.int32).reshape(-1, self.span)
        bits = self.span.bit_length()
        columns = self.words + 1
        row = around[:, self.span // 2].astype(np.int64) - first
        keys = around.astype(np.int64)
        keys += row[:, None] * columns
        keys <<= bits
        keys += np.arange(self.span)
        pairs = keys.ravel()
        pairs.sort()
        worth = self.weights[pairs & ((1 << bits) - 1)]
        pairs >>= bits
        starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(pairs)])
        sums = np.add.reduceat(worth, starts) if len(starts) else worth
        rows, places = np.divmod(pairs[starts], columns)
        kept = (places < self.words) & (sums > 0)
        lengths = np.bincount(rows[kept], minlength=after - first)
        return Rows(places[kept].astype(np.int32), sums[kept], lengths)


def _grouped(
    ids: NDArray[np.int32], places: NDArray[np.int32], words: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return ``places`` ordered by word, and where each word's begin, (V + 1,)."""
    order = ids.astype(np.int64)
    order <<= 32
    order |= np.arange(len(ids))
    order.sort()
    order &= 0xFFFFFFFF
    starts = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=words))])
    return places[order], starts
