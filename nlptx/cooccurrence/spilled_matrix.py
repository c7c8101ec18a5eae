"""A sparse matrix to which rows are appended. If the matrix becomes large, its entries go to temporary files."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.cooccurrence.window_pairs import SparseRows
from nlptx.io.memory_budget import MemoryBudget

# Number of bytes per entry: 4 for the column index (int32), and 8 for the sum (float64).
BYTES_PER_ENTRY = 12


class SpilledMatrix:
    """A (V, V) sparse matrix whose rows are appended in order.

    Args:
        words: V, the number of words.
        budget: memory limit, and folder for temporary files. The matrix may use a quarter of the memory limit.
        units_per_count: divisor of the appended sums: the number of units in a weight of 1 (see
            :func:`.unit_weights`), or 1 to store the sums in units.
    """

    def __init__(self, words: int, budget: MemoryBudget, units_per_count: int = 1) -> None:
        self.words = words
        self.units_per_count = units_per_count
        max_bytes = budget.memory // 4
        self.columns = budget.growing_array(np.int32, max_bytes // 3)
        self.values = budget.growing_array(np.float64, 2 * max_bytes // 3)
        self._lengths: list[NDArray[np.int64]] = []

    @classmethod
    def empty(cls, words: int, budget: MemoryBudget) -> SpilledMatrix:
        """Return a matrix without entries."""
        matrix = cls(words, budget)
        matrix.append(SparseRows(np.empty(0, np.int32), np.empty(0), np.zeros(words, np.int64)))
        return matrix

    def append(self, rows: SparseRows) -> None:
        """Append the next rows, after dividing each of their entries by ``units_per_count``. The arrays are copied."""
        self.columns.append(rows.columns.copy())
        # Dividing rounds once, whereas multiplying by the reciprocal would round twice.
        self.values.append(rows.sums / self.units_per_count)
        self._lengths.append(rows.lengths.copy())

    def spill(self, budget: MemoryBudget, share: float, remaining: float) -> None:
        """Move the entries to temporary files now.

        Args:
            budget: memory budget, which creates the temporary files.
            share: fraction of the corpus whose pairs this matrix contains.
            remaining: fraction of the corpus that is not in temporary files yet, including ``share``.

        Raises:
            OutputError: there is not enough disk space for the remaining partial matrices and the sum of all partial
                matrices.
        """
        of_corpus = BYTES_PER_ENTRY * len(self.columns) / share
        budget.require(round((remaining + 1) * of_corpus))
        self.columns.spill()
        self.values.spill()

    def indptr(self) -> NDArray[np.int64]:
        """Return the row pointers, (V + 1,) int64: row i has the entries indptr[i] to indptr[i + 1] (exclusive)."""
        return np.concatenate([[0], *self._lengths]).cumsum()
