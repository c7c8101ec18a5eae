"""The sum of sparse matrices, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.cooccurrence.spilled_matrix import BYTES_PER_ENTRY, SpilledMatrix
from nlptx.cooccurrence.window_pairs import SparseRows
from nlptx.io.spill import MemoryBudget
from nlptx.runtime.workers import Workers


def merge(runs: Sequence[SpilledMatrix], space: MemoryBudget, workers: Workers, one: int = 1) -> SpilledMatrix:
    """Return the sum of ``runs``, divided by ``one``; they are closed."""
    bounds = [run.indptr() for run in runs]
    total = np.sum(bounds, axis=0)
    most = max(1, space.memory // (32 * BYTES_PER_ENTRY * (workers.jobs + 1)))
    cuts = np.searchsorted(total, np.arange(most, total[-1], most)).tolist()
    edges = sorted({0, *cuts, len(total) - 1})

    def add(rows: tuple[int, int]) -> SparseRows:
        summed = _sum_in_tree([_slice(run, indptr, *rows) for run, indptr in zip(runs, bounds, strict=True)])
        return SparseRows(
            summed.indices.astype(np.int32, copy=False), summed.data, np.diff(summed.indptr).astype(np.int64)
        )

    result = SpilledMatrix(runs[0].words, space, one)
    for rows in workers.map(add, pairwise(edges)):
        result.append(rows)
    for run in runs:
        run.columns.close()
        run.values.close()
    return result


def _sum_in_tree(parts: list[sp.csr_matrix]) -> sp.csr_matrix:
    """Sum matrices, equals with equals, so that each entry is copied a logarithmic number of times."""
    while len(parts) > 1:
        pairs = [parts[i] + parts[i + 1] for i in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def _slice(run: SpilledMatrix, indptr: NDArray[np.int64], first: int, after: int) -> sp.csr_matrix:
    """Return some rows of a run; ``indptr`` is that of the whole."""
    start, stop = int(indptr[first]), int(indptr[after])
    entries = (run.values.read(start, stop), run.columns.read(start, stop), indptr[first : after + 1] - start)
    return sp.csr_matrix(entries, shape=(after - first, run.words))
