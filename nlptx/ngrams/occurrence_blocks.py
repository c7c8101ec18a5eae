"""Stores which texts contain which n-grams: a sparse matrix of zeros and ones, whose blocks of rows may be in a file.

Let N be this matrix, (texts, G). All matrices of texts by n-grams have the form S N W with diagonal matrices S and W,
so only the columns of the entries of N are stored. Sums over the texts are sums over the blocks, in order, so they do
not depend on the number of workers. The blocks do not depend on the memory limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.io.spill import MemoryBudget, SpilledArray
from nlptx.ngrams.key_index import KeyIndex
from nlptx.ngrams.occurrences import NgramSets
from nlptx.runtime.workers import SERIAL, Store, Workers

T = TypeVar("T")
# Approximate number of entries of a block: enough work for a thread, and little memory.
_ENTRIES = 1 << 21


class _Block(NamedTuple):
    """A range of rows of N, and a function that returns the columns of their entries."""

    rows: slice
    load: Callable[[], NDArray[np.int32]]


class OccurrenceBlocks:
    """The matrix N of some texts and n-grams.

    Args:
        sets: distinct n-grams of the texts.
        known: (G,) sorted n-grams, one per column. Other n-grams are ignored.
        workers: threads to use; they do not change the result.
        budget: memory limit; the blocks can be read until the budget is closed.

    Raises:
        OutputError: the temporary file cannot be written.
    """

    def __init__(
        self, sets: Iterable[NgramSets], known: NDArray[np.int64], workers: Workers, budget: MemoryBudget
    ) -> None:
        index, self._workers = KeyIndex(known), workers
        entries = budget.spilled_array(np.int32, 2 * budget.share)

        def columns_of(group: NgramSets) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
            """Return the columns of the entries of a group of texts, and the number of entries of each text."""
            found = index.find(group.keys)
            is_known = found < len(known)
            ends = np.append(0, np.cumsum(is_known, dtype=np.int32))[np.cumsum(group.sizes)]
            return found[is_known].astype(np.int32), np.diff(ends, prepend=np.int32(0))

        counts = [np.zeros(0, np.int32)]
        for columns, of_texts in workers.map(columns_of, sets):
            entries.append(columns)
            counts.append(of_texts)
        self._counts = np.concatenate(counts)
        self.shape = len(self._counts), len(known)
        self._blocks = list(self._cut(entries))
        largest = max((int(self._counts[block.rows].sum()) for block in self._blocks), default=0)
        self._ones = np.ones(largest, np.float32)

    def _cut(self, entries: SpilledArray) -> Iterator[_Block]:
        ends = np.cumsum(self._counts, dtype=np.int64)
        last = np.flatnonzero(np.diff(ends // _ENTRIES)) + 1
        for low, high in zip([0, *last.tolist()], [*last.tolist(), len(ends)], strict=True):
            if low < high:
                start = int(ends[low - 1]) if low else 0
                yield _Block(slice(low, high), partial(entries.read, start, int(ends[high - 1])))

    def stored(self, store: Store) -> OccurrenceBlocks:
        """Return a matrix that the tasks of :meth:`.Workers.map_shared` can use. Raises OutputError if this fails."""
        copied = copy(self)
        copied._workers = SERIAL
        copied._blocks = [_Block(rows, store(load())) for rows, load in self._blocks]
        return copied

    def map(self, work: Callable[[slice, sp.csr_matrix], T]) -> Iterator[T]:
        """Yield ``work(rows, block)`` for each block, in order; ``block`` contains the rows of N in the slice."""

        def load(block: _Block) -> T:
            indptr = np.append(np.int32(0), np.cumsum(self._counts[block.rows], dtype=np.int32))
            columns = block.load()
            shape = len(indptr) - 1, self.shape[1]
            return work(block.rows, sp.csr_matrix((self._ones[: len(columns)], columns, indptr), shape, copy=False))

        return self._workers.map(load, self._blocks)

    def forward(self, u: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return N u, (texts, K), for u (G, K)."""
        result = np.empty((self.shape[0], u.shape[1]), np.float32)

        def fill(rows: slice, block: sp.csr_matrix) -> None:
            result[rows] = block @ u

        for _ in self.map(fill):
            pass
        return result

    def transposed(self, of_texts: Callable[[slice], NDArray], columns: int) -> NDArray[np.float64]:
        """Return N' a, (G, columns). ``of_texts`` returns the rows of a, (texts, columns), in a given slice."""
        total = np.zeros((self.shape[1], columns))
        for part in self.map(lambda rows, block: block.T @ of_texts(rows)):
            total += part
        return total
