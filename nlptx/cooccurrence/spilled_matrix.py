"""SparseRows of a sparse matrix as they are counted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.cooccurrence.window_pairs import SparseRows
from nlptx.io.spill import MemoryBudget

# Of a column and a sum.
BYTES_PER_ENTRY = 12


class SpilledMatrix:
    """A (V, V) sparse matrix whose rows are added in order.

    Args:
        words: V.
        space: where entries go that do not fit in memory; a run may take a quarter of it.
        one: what sums are divided by.
    """

    def __init__(self, words: int, space: MemoryBudget, one: int = 1) -> None:
        self.words = words
        self.one = one
        most = space.memory // 4
        self.columns = space.spilled_array(np.int32, most // 3)
        self.values = space.spilled_array(np.float64, 2 * most // 3)
        self._lengths: list[NDArray[np.int64]] = []

    def append(self, rows: SparseRows) -> None:
        """Add a copy of the next rows."""
        self.columns.append(rows.columns.copy())
        # Each sum is divided: multiplying by 1/one would round twice.
        self.values.append(rows.sums / self.one)
        self._lengths.append(rows.lengths.copy())

    def leave_memory(self, space: MemoryBudget, share: float) -> None:
        """Move to temporary files now; ``share`` is the part of the whole that has been counted by now."""
        # As much again for each run to come, and then the sum of all.
        space.require(round(2 * BYTES_PER_ENTRY * len(self.columns) / share))
        self.columns.leave_memory()
        self.values.leave_memory()

    def indptr(self) -> NDArray[np.int64]:
        """Return where each row begins, (V + 1,)."""
        return np.concatenate([[0], *self._lengths]).cumsum()
