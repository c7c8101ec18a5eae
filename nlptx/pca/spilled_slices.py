"""Slices of a sparse matrix, which are kept in memory if they fit, and otherwise in temporary files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from nlptx.io.memory_budget import MemoryBudget

# Function that returns a stored slice. Several threads may call this function at the same time.
Load = Callable[[], sp.csr_matrix]


def in_memory(part: sp.csr_matrix) -> Load:
    """Keep a slice in memory, and return a function that returns the slice."""
    return lambda: part


class SpilledSlices:
    """Stores slices of a matrix.

    Args:
        entries: maximum number of entries in all slices together.
        dtype: dtype of the entries.
        memory: number of bytes that the slices may occupy in memory. If the slices need more memory, all of them go to
            temporary files.
        budget: memory budget of the stage, which also creates the temporary files.

    Raises:
        OutputError: there is not enough disk space.
    """

    def __init__(self, entries: int, dtype: np.dtype, memory: int, budget: MemoryBudget) -> None:
        size = entries * (np.dtype(np.int32).itemsize + dtype.itemsize)
        self._columns = self._values = None
        if size > memory:
            budget.require(size)
            self._columns, self._values = (budget.growing_array(kind, 0) for kind in (np.int32, dtype))

    def add(self, part: sp.csr_matrix) -> Load:
        """Store a slice, and return a function that loads it. Raises OutputError if the temporary file cannot grow."""
        columns, values = self._columns, self._values
        if columns is None or values is None:
            return in_memory(part)
        start, shape, indptr = len(columns), part.shape, part.indptr
        columns.append(part.indices)
        values.append(part.data)
        stop = len(columns)
        del part
        return lambda: sp.csr_matrix((values.read(start, stop), columns.read(start, stop), indptr), shape, copy=False)
