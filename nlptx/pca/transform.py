"""Transforms co-occurrence counts.

The transforms ``ppmi`` and ``log`` compress the range of the counts, so that large counts do not dominate.
Transformed rows are computed when they are needed, so the matrix of counts may be larger than memory.
V is the number of words.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.runtime.workers import SERIAL, Workers

# Minimum number of slices into which a matrix is cut, and maximum number of entries in a slice (not counting its last
# row). The slices determine the order of summation. They depend only on the matrix, so that the number of workers does
# not change the result.
_SLICES = 8
_SLICE_ENTRIES = 8 << 20


class RowMatrix(Protocol):
    """Interface of a sparse matrix from which slices of rows can be read, such as a ``csr_matrix``."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def indptr(self) -> NDArray:
        """(rows + 1,) row pointers: the number of stored entries before each row."""

    def __getitem__(self, rows: slice) -> sp.csr_matrix: ...


class TransformedRows:
    """The rows of a matrix of counts, transformed.

    Args:
        counts: the matrix of counts.
        change: function that transforms a range of rows, given the range and the counts in these rows.
    """

    def __init__(self, counts: RowMatrix, change: Callable[[slice, sp.csr_matrix], sp.csr_matrix]) -> None:
        self.shape = counts.shape
        self.indptr = counts.indptr  # row pointers of the counts; the transformed rows may have fewer entries
        self._counts, self._change = counts, change

    def __getitem__(self, rows: slice) -> sp.csr_matrix:
        start, stop, _ = rows.indices(self.shape[0])
        rows = slice(start, stop)
        return self._change(rows, self._counts[rows])


def transform(counts: RowMatrix, name: str, smoothing: float, workers: Workers = SERIAL) -> TransformedRows:
    """Return the transformed counts. The transform is applied to rows whenever they are read.

    Args:
        counts: (V, V) sparse co-occurrence counts.
        name: ``ppmi``, ``log`` for log(1 + x), or ``none``.
        smoothing: see :func:`ppmi`.
        workers: thread pool that computes the row totals; the number of threads does not change the result.
    """
    return transform_with(counts, name, smoothing, row_totals(counts, workers) if name == "ppmi" else None)


def transform_with(counts: RowMatrix, name: str, smoothing: float, totals: NDArray | None) -> TransformedRows:
    """Return the transformed counts, given the (V,) row totals, which only PPMI needs."""
    if name == "ppmi":
        assert totals is not None
        return ppmi(counts, smoothing, totals)
    return TransformedRows(counts, lambda _, part: part.log1p() if name == "log" else part)


def is_symmetric(name: str, smoothing: float) -> bool:
    """Return whether the transformed counts are exactly symmetric."""
    return name != "ppmi" or smoothing == 1


def row_totals(counts: RowMatrix, workers: Workers = SERIAL) -> NDArray:
    """Return the total of each row, (V,)."""
    return np.concatenate(list(workers.map(lambda rows: totals_of(counts[rows]), even_slices(counts))))


def totals_of(part: sp.csr_matrix) -> NDArray:
    """Return the totals of the rows of ``part``, (rows,)."""
    return np.asarray(part.sum(axis=1)).ravel()


def ppmi(counts: RowMatrix, smoothing: float, totals: NDArray) -> TransformedRows:
    """Return the positive pointwise mutual information of words w and contexts c.

        PPMI(w, c) = max(0, log[P(w, c) / (P(w) P_a(c))])    with    P_a(c) = count(c)^a / sum of all count^a

    Args:
        counts: (V, V) sparse co-occurrence counts, all positive.
        smoothing: the exponent a, from 0 to 1. Values below 1 increase the probability of rare contexts.
        totals: (V,) total of each row.

    Returns:
        (V, V) sparse matrix of the positive entries.

    Source: Levy, Goldberg & Dagan (2015), "Improving distributional similarity".
    """
    smoothed = np.where(totals > 0, totals**smoothing, 0)  # 0**0 would be 1
    # A word without any co-occurrences has an empty row and column, so its logarithms are never used and can have any
    # finite value.
    log_word = np.log(np.where(totals > 0, totals, 1))
    log_context = np.log(np.where(totals > 0, smoothed, 1))
    log_sum = np.log(smoothed.sum() or 1)

    def positive(rows: slice, part: sp.csr_matrix) -> sp.csr_matrix:
        pmi = np.log(part.data)
        pmi += log_sum
        # The two logarithms are added up before they are subtracted, so that the result is exactly symmetric if there
        # is no smoothing.
        pmi -= log_context[part.indices] + np.repeat(log_word[rows], np.diff(part.indptr))
        kept = pmi > 0
        before = np.concatenate([[0], np.cumsum(kept)])
        indptr = before[part.indptr].astype(part.indptr.dtype)
        return sp.csr_matrix((pmi[kept], part.indices[kept], indptr), part.shape)

    return TransformedRows(counts, positive)


def even_slices(matrix: RowMatrix) -> list[slice]:
    """Cut the rows into slices with about the same number of entries. Some slices may be empty."""
    entries = int(matrix.indptr[-1])
    count = max(_SLICES, -(-entries // _SLICE_ENTRIES))
    cuts = np.searchsorted(matrix.indptr, np.linspace(0, entries, count + 1))
    cuts[0], cuts[-1] = 0, matrix.shape[0]
    return [slice(start, stop) for start, stop in pairwise(cuts.tolist())]
