"""The matrix that PCA analyses, as an operator: transformed counts, optionally standardised, and never made dense.

V is the number of words, and k the number of vectors in the block to be multiplied.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from nlptx.runtime.workers import SERIAL, Workers

# Number of slices that a matrix is cut into, which limits the number of threads. It is fixed, because it determines the
# order of summation.
_SLICES = 8


def ppmi(counts: sp.csr_matrix, smoothing: float, workers: Workers = SERIAL) -> sp.csr_matrix:
    """Return the positive pointwise mutual information of words w and contexts c.

        PPMI(w, c) = max(0, log[P(w, c) / (P(w) P_a(c))])    with    P_a(c) = count(c)^a / sum of all count^a

    Args:
        counts: (V, V) sparse co-occurrence counts, all positive.
        smoothing: the exponent a, from 0 to 1; values below 1 raise the probability of rare contexts.
        workers: threads; they do not change the result.

    Returns:
        (V, V) sparse matrix of the entries above 0.

    Source: Levy, Goldberg & Dagan (2015), "Improving distributional similarity".
    """
    totals = np.asarray(counts.sum(axis=1)).ravel()
    smoothed = totals**smoothing
    # A word without any co-occurrences has an empty row and column, so its logarithms can have any finite value.
    log_word = np.log(np.where(totals > 0, totals, 1))
    log_context = np.log(np.where(totals > 0, smoothed, 1)) - np.log(smoothed.sum() or 1)

    def positive(rows: slice) -> tuple[NDArray, NDArray, NDArray]:
        """Return the positive entries of these rows, their column indices, and the number of them in each row."""
        starts = counts.indptr[rows.start : rows.stop + 1]
        entries = slice(starts[0], starts[-1])
        columns = counts.indices[entries]
        pmi = np.log(counts.data[entries])
        pmi -= np.repeat(log_word[rows], np.diff(starts))
        pmi -= log_context[columns]
        kept = pmi > 0
        before = np.concatenate([[0], np.cumsum(kept)])
        return pmi[kept], columns[kept], np.diff(before[starts - starts[0]])

    parts = workers.map(positive, _even_slices(counts))
    data, columns, lengths = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(counts.indptr.dtype)
    return sp.csr_matrix((data, columns, indptr), counts.shape)


def transform(counts: sp.csr_matrix, name: str, smoothing: float, workers: Workers = SERIAL) -> sp.csr_matrix:
    """Return the transformed counts. PPMI and log compress their range, so that a few large counts do not dominate.

    Args:
        counts: (V, V) sparse co-occurrence counts.
        name: ``ppmi``, ``log`` for log(1 + x), or ``none``.
        smoothing: see :func:`ppmi`.
        workers: threads; they do not change the result.
    """
    if name == "ppmi":
        return ppmi(counts, smoothing, workers)
    return counts.log1p() if name == "log" else counts.copy()


@dataclass(frozen=True)
class _Slice:
    """Consecutive rows of X = S - shift 1^T.

    Args:
        rows: range of rows.
        scaled: (rows, V) the rows of S in this range.
        shift: (rows,) the entries of the shift in this range.
        squares: sum of squares of the entries of X in these rows.
    """

    rows: slice
    scaled: sp.csr_matrix
    shift: NDArray
    squares: float

    def forward(self, block: NDArray, sums: NDArray) -> NDArray:
        """Return X b, (rows, k), for b (V, k) and ``sums`` = 1^T b, (k,)."""
        product = self.scaled @ block
        product -= np.multiply.outer(self.shift, sums)
        return product

    def transposed(self, block: NDArray) -> tuple[NDArray, NDArray]:
        """Return S^T b, (V, k), and shift^T b, (k,). Subtracting the second from each row of the first gives X^T b."""
        return self.scaled.T @ block, self.shift @ block


class RowOperator:
    """Products with X, with X^T, and with the second moments C = X^T X / n, for a matrix X made from a sparse matrix M.

        X = M    or, standardised,    X = D^-1 (M - mean 1^T)

    In the second form each row has mean 0 and standard deviation 1 (a constant row becomes 0), and D is the diagonal
    matrix of the standard deviations. This X is dense, so it is never formed. Only the sparse matrix S = D^-1 M and the
    vector shift = D^-1 (row means) are stored. Then X = S - shift 1^T, and

        X b = S b - shift (1^T b),    X^T b = S^T b - 1 (shift^T b).

    The rows are cut into a few slices X_i, and X^T X b is the sum of X_i^T (X_i b). So each thread uses its X_i b
    immediately, and one copy of the matrix serves both products.

    Args:
        matrix: (n, V) sparse M.
        standardize: whether X is standardised.
        dtype: float32 or float64, the dtype of all products.
        workers: threads; they do not change the result.
    """

    def __init__(self, matrix: sp.csr_matrix, standardize: bool, dtype: DTypeLike, workers: Workers = SERIAL) -> None:
        self.shape: tuple[int, int] = matrix.shape
        self.dtype = np.dtype(dtype)
        self._workers = workers
        self._slices = list(
            workers.map(lambda rows: _make_slice(matrix, rows, standardize, self.dtype), _even_slices(matrix))
        )
        self.trace = sum(part.squares for part in self._slices) / self.shape[0]

    def forward(self, block: NDArray) -> NDArray:
        """Return X b, (n, k), for b of shape (V, k)."""
        sums = block.sum(axis=0)
        return np.concatenate(list(self._workers.map(lambda part: part.forward(block, sums), self._slices)))

    def transposed(self, block: NDArray) -> NDArray:
        """Return X^T b, (V, k), for b of shape (n, k)."""
        return self._sum_transposed(lambda part: block[part.rows], block.shape[1])

    def moments(self, block: NDArray) -> NDArray:
        """Return C b = X^T (X b) / n, (V, k), for b of shape (V, k)."""
        sums = block.sum(axis=0)
        product = self._sum_transposed(lambda part: part.forward(block, sums), block.shape[1])
        product /= self.shape[0]
        return product

    def _sum_transposed(self, slice_of: Callable[[_Slice], NDArray], width: int) -> NDArray:
        """Return X^T b, summed over the slices in order; ``slice_of`` returns the rows of b (n, k) for a slice."""
        product = np.zeros((self.shape[1], width), self.dtype)
        shift = np.zeros(width, self.dtype)
        for scaled, shifted in self._workers.map(lambda part: part.transposed(slice_of(part)), self._slices):
            product += scaled
            shift += shifted
        product -= shift
        return product


def _make_slice(matrix: sp.csr_matrix, rows: slice, standardize: bool, dtype: np.dtype) -> _Slice:
    part = matrix[rows]
    columns = part.shape[1]
    squares = sp.csr_matrix((part.data**2, part.indices, part.indptr), part.shape) @ np.ones(columns)
    mean = np.zeros(len(squares))
    scale = np.ones(len(squares))
    if standardize:
        mean = part @ np.ones(columns) / columns
        variance = np.maximum(squares / columns - mean**2, 0)
        constant = variance <= 1e-12 * (squares / columns)
        scale = np.where(constant, 0, 1 / np.sqrt(np.where(constant, 1, variance)))
        squares = np.where(constant, 0, columns)
    scaled = (part.data * np.repeat(scale, np.diff(part.indptr))).astype(dtype)
    return _Slice(
        rows,
        sp.csr_matrix((scaled, part.indices, part.indptr), part.shape),
        (mean * scale).astype(dtype),
        float(squares.sum()),
    )


def _even_slices(matrix: sp.csr_matrix) -> list[slice]:
    """Cut the rows into slices with about the same number of entries; some slices may be empty."""
    targets = np.linspace(0, matrix.nnz, _SLICES + 1)
    cuts = np.searchsorted(matrix.indptr, targets)
    cuts[0], cuts[-1] = 0, matrix.shape[0]
    return [slice(start, stop) for start, stop in pairwise(cuts.tolist())]
