"""A sparse matrix of zeros and ones that shows which texts contain which n-grams, stored in blocks of rows.

Let N be this matrix, (texts, G). The weighted matrices (texts, G) that callers need have the form S N W, where S and W
are diagonal. It is therefore enough to store N, as the column indices of its ones. Sums over the texts are computed
block by block, in an order that does not depend on the workers. The blocks may be in a file. The memory limit does not
affect how N is cut into blocks. Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.io.memory_budget import GrowingArray, MemoryBudget
from nlptx.ngrams.key_index import KeyIndex
from nlptx.ngrams.occurrences import NgramSets
from nlptx.pca.pairwise_sum import pairwise_sum
from nlptx.runtime.workers import SERIAL, Store, Workers

T = TypeVar("T")
S = TypeVar("S")
# Approximate number of entries in a block: enough to keep a thread busy, but small enough to need little memory.
_ENTRIES = 1 << 21
# Maximum number of groups of blocks for which a separate sum is computed. The maximum is small because each sum needs
# much more memory than a block and, on a cluster, is sent to the machine that runs the command.
_GROUPS = 32


class _Block(NamedTuple):
    """A block of consecutive rows of N.

    Args:
        rows: slice of the rows in the block.
        load: function that returns the index pointer (rows + 1,) and the column indices of these rows, which define a
            CSR matrix.
    """

    rows: slice
    load: Callable[[], tuple[NDArray[np.int32], NDArray[np.int32]]]

    def matrix(self, grams: int, ones: NDArray[np.float32]) -> sp.csr_matrix:
        """Return the block as a matrix. ``ones`` is an array of ones, at least one per entry."""
        indptr, columns = self.load()
        return sp.csr_matrix((ones[: len(columns)], columns, indptr), (len(indptr) - 1, grams), copy=False)


class OccurrenceBlocks:
    """The matrix N of the given texts and n-grams.

    Args:
        sets: the distinct n-grams of each text, in groups of consecutive texts.
        known: (G,) sorted n-grams, one per column. Other n-grams are ignored.
        workers: pool of threads or processes; its size does not change the result.
        budget: memory limit. The blocks can be read until the ``with`` block of the budget ends.

    Raises:
        OutputError: the temporary file for the blocks cannot be written.
    """

    def __init__(
        self, sets: Iterable[NgramSets], known: NDArray[np.int64], workers: Workers, budget: MemoryBudget
    ) -> None:
        index, self._workers = KeyIndex(known), workers
        entries = budget.growing_array(np.int32, 2 * budget.array_limit)

        def columns_of(group: NgramSets) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
            """Return the columns of the entries of N in a group of texts, and the number of entries of each text."""
            columns = index.find(group.keys)
            is_known = columns < len(known)
            ends = np.append(np.int32(0), np.cumsum(is_known, dtype=np.int32))[np.cumsum(group.sizes)]
            return columns[is_known].astype(np.int32), np.diff(ends, prepend=np.int32(0))

        counts = [np.zeros(0, np.int32)]
        for columns, entry_counts in workers.map(columns_of, sets):
            entries.append(columns)
            counts.append(entry_counts)
        entry_counts = np.concatenate(counts)
        self.shape = len(entry_counts), len(known)
        self._blocks = list(_cut(entries, entry_counts))
        largest = max((int(entry_counts[block.rows].sum()) for block in self._blocks), default=0)
        self._ones = np.ones(largest, np.float32)

    def stored(self, store: Store, workers: Workers = SERIAL) -> OccurrenceBlocks:
        """Return the same matrix with its blocks in files, so that tasks of :meth:`.Workers.map_shared` can use it.

        Args:
            store: function that stores a block.
            workers: workers that the new matrix uses. If the matrix is passed to a task, they must be local threads or
                processes, not those of a cluster.

        Raises:
            OutputError: a block cannot be stored.
        """
        copied = copy(self)
        copied._workers = workers
        copied._blocks = [_Block(rows, store(load())) for rows, load in self._blocks]
        return copied

    def map(self, work: Callable[[slice, sp.csr_matrix], T]) -> Iterator[T]:
        """Yield ``work(rows, block)`` for each block, in order; ``block`` is ``N[rows]``, and ``rows`` a slice."""
        return self._workers.map(lambda block: work(block.rows, block.matrix(self.shape[1], self._ones)), self._blocks)

    def sum(
        self, work: Callable[[S, slice, sp.csr_matrix], NDArray], shared: S, shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        """Return the sum of ``work(shared, rows, block)`` over all blocks.

        On a cluster, the sum of each group of blocks is a separate task.

        Args:
            work: function at the top level of a module, as :meth:`.Workers.map_shared` requires.
            shared: data that ``work`` needs for all blocks.
            shape: shape of the result of ``work``, and of the sum.
        """
        size = max(1, -(-len(self._blocks) // _GROUPS))
        starts = range(0, len(self._blocks), size)
        groups = [_Group(self.shape[1], len(self._ones), self._blocks[start : start + size]) for start in starts]
        total = np.zeros(shape)
        for part in self._workers.map_shared(_sum_of_group, (work, shared), groups, threads_only=True):
            total += part
        return total

    def forward(self, u: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return N u, (texts, K), for u (G, K)."""
        result = np.empty((self.shape[0], u.shape[1]), np.float32)

        def fill(rows: slice, block: sp.csr_matrix) -> None:
            result[rows] = block @ u

        for _ in self.map(fill):
            pass
        return result

    def transposed(self, rows_of: Callable[[slice], NDArray], columns: int) -> NDArray[np.float64]:
        """Return N^T A, (G, columns), for a matrix A (texts, columns). ``rows_of(rows)`` returns ``A[rows]``."""
        total = np.zeros((self.shape[1], columns))
        for part in self.map(lambda rows, block: block.T @ rows_of(rows)):
            total += part
        return total


class _Group(NamedTuple):
    """Consecutive blocks; ``grams`` is the number of columns, ``largest`` the maximum number of entries of a block."""

    grams: int
    largest: int
    blocks: list[_Block]


def _sum_of_group(shared: tuple[Callable[[S, slice, sp.csr_matrix], NDArray], S], group: _Group) -> NDArray:
    work, data = shared
    ones = np.ones(group.largest, np.float32)
    return pairwise_sum(work(data, block.rows, block.matrix(group.grams, ones)) for block in group.blocks)


def _cut(entries: GrowingArray, entry_counts: NDArray[np.int32]) -> Iterator[_Block]:
    """Yield the blocks, given the columns of all entries of N and the number of entries of each text."""
    ends = np.cumsum(entry_counts, dtype=np.int64)
    cuts = np.flatnonzero(np.diff(ends // _ENTRIES)) + 1
    for low, high in pairwise([0, *cuts.tolist(), len(ends)]):
        if low < high:
            start = int(ends[low - 1]) if low else 0
            yield _Block(slice(low, high), partial(_read, entries, entry_counts[low:high], start, int(ends[high - 1])))


def _read(
    entries: GrowingArray, entry_counts: NDArray[np.int32], start: int, stop: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the index pointer of a block, and its column indices, which are ``entries[start:stop]``."""
    return np.append(np.int32(0), np.cumsum(entry_counts, dtype=np.int32)), entries.read(start, stop)
