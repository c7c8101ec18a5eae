"""Sums sparse matrices in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.cooccurrence.spilled_matrix import BYTES_PER_ENTRY, SpilledMatrix
from nlptx.cooccurrence.window_pairs import SparseRows
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers


def sum_matrices(
    parts: Sequence[SpilledMatrix], budget: MemoryBudget, workers: Workers, units_per_count: int = 1
) -> SpilledMatrix:
    """Return the sum of ``parts``, divided by ``units_per_count``, and close the parts.

    Args:
        parts: (V, V) matrices.
        budget: memory limit, and folder for temporary files.
        workers: threads that sum the rows.
        units_per_count: divisor of the sums: the number of units in a weight of 1 (see :func:`.unit_weights`), or 1 to
            keep the sums in units.
    """
    bounds = [part.indptr() for part in parts]
    total = np.sum(bounds, axis=0)
    max_entries = max(1, budget.memory // (32 * BYTES_PER_ENTRY * (workers.jobs + 1)))
    cuts = np.searchsorted(total, np.arange(max_entries, total[-1], max_entries)).tolist()
    edges = sorted({0, *cuts, len(total) - 1})

    def add(rows: tuple[int, int]) -> SparseRows:
        summed = sum_in_tree([_slice(part, indptr, *rows) for part, indptr in zip(parts, bounds, strict=True)])
        return SparseRows(
            summed.indices.astype(np.int32, copy=False), summed.data, np.diff(summed.indptr).astype(np.int64)
        )

    result = SpilledMatrix(parts[0].words, budget, units_per_count)
    for rows in workers.map(add, pairwise(edges)):
        result.append(rows)
    for part in parts:
        part.columns.close()
        part.values.close()
    return result


def sum_in_tree(parts: list[sp.csr_matrix]) -> sp.csr_matrix:
    """Sum n matrices pairwise, so that each entry is copied only about log2(n) times."""
    while len(parts) > 1:
        pairs = [parts[i] + parts[i + 1] for i in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def _slice(part: SpilledMatrix, indptr: NDArray[np.int64], start: int, stop: int) -> sp.csr_matrix:
    """Return the rows ``start`` to ``stop`` (exclusive) of a matrix with the row pointers ``indptr``."""
    first, end = int(indptr[start]), int(indptr[stop])
    entries = (part.values.read(first, end), part.columns.read(first, end), indptr[start : stop + 1] - first)
    return sp.csr_matrix(entries, shape=(stop - start, part.words))
