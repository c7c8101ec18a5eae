"""Rows of a sparse matrix as they are counted, and the sum of such matrices, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.pairs import Rows
from nlptx.parallel import in_order
from nlptx.spool import Space

_BYTES_PER_ENTRY = 12


class Run:
    """A (V, V) sparse matrix whose rows are added in order.

    Args:
        words: V.
        space: where entries go that do not fit in memory; a run may take a quarter of it.
        one: what sums are divided by.
    """

    def __init__(self, words: int, space: Space, one: int = 1) -> None:
        self.words = words
        self.one = one
        most = space.memory // 4
        self.columns = space.spool(np.int32, most // 3)
        self.values = space.spool(np.float64, 2 * most // 3)
        self._lengths: list[NDArray[np.int64]] = []

    def append(self, rows: Rows) -> None:
        """Add the next rows."""
        self.columns.append(rows.columns)
        # Each sum is divided: multiplying by 1/one would round twice.
        self.values.append(rows.sums / self.one if self.one != 1 else rows.sums)
        self._lengths.append(rows.lengths)

    def leave_memory(self, space: Space, share: float) -> None:
        """Move to temporary files now; ``share`` is the part of the whole that has been counted by now."""
        # As much again for each run to come, and then the sum of all.
        space.require(round(2 * _BYTES_PER_ENTRY * len(self.columns) / share))
        self.columns.leave_memory()
        self.values.leave_memory()

    def indptr(self) -> NDArray[np.int64]:
        """Return where each row begins, (V + 1,)."""
        return np.concatenate([[0], *self._lengths]).cumsum()

    def slice(self, indptr: NDArray[np.int64], first: int, after: int) -> sp.csr_matrix:
        """Return some rows; ``indptr`` is that of the run."""
        start, stop = int(indptr[first]), int(indptr[after])
        entries = (self.values.read(start, stop), self.columns.read(start, stop), indptr[first : after + 1] - start)
        return sp.csr_matrix(entries, shape=(after - first, self.words))


def merge(runs: Sequence[Run], space: Space, jobs: int, one: int = 1) -> Run:
    """Return the sum of ``runs``, divided by ``one``; they are closed."""
    bounds = [run.indptr() for run in runs]
    total = np.sum(bounds, axis=0)
    most = max(1, space.memory // (32 * _BYTES_PER_ENTRY * (jobs + 1)))
    cuts = np.searchsorted(total, np.arange(most, total[-1], most)).tolist()
    edges = sorted({0, *cuts, len(total) - 1})

    def add(rows: tuple[int, int]) -> Rows:
        summed = _sum_in_tree([run.slice(indptr, *rows) for run, indptr in zip(runs, bounds, strict=True)])
        return Rows(summed.indices.astype(np.int32, copy=False), summed.data, np.diff(summed.indptr).astype(np.int64))

    result = Run(runs[0].words, space, one)
    for rows in in_order(add, pairwise(edges), jobs):
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
