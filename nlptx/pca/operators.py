"""The matrix PCA works on, never densified: transformed counts, their rows standardised or not, as an operator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from nlptx.runtime.workers import SERIAL, Workers

# Into how many row slices a matrix is cut: so many threads find work. Fixed, as the order of a sum depends on it.
_SLICES = 8


def ppmi(counts: sp.csr_matrix, smoothing: float, workers: Workers = SERIAL) -> sp.csr_matrix:
    """Return positive pointwise mutual information, max(0, log[P(w, c) / (P(w) P_a(c))]).

    Args:
        counts: (V, V) co-occurrence counts.
        smoothing: exponent a of the context distribution, P_a(c) = count(c)^a / sum of all count^a.
        workers: threads; they do not change the result.

    Source: Levy, Goldberg & Dagan (2015), "Improving distributional similarity".
    """
    totals = np.asarray(counts.sum(axis=1)).ravel()
    smoothed = totals**smoothing
    # A word that occurs near no other has an empty row and column; any finite value does for it.
    log_word = np.log(np.where(totals > 0, totals, 1))
    log_context = np.log(np.where(totals > 0, smoothed, 1)) - np.log(smoothed.sum() or 1)

    def positive(rows: slice) -> tuple[NDArray, NDArray, NDArray]:
        """Return the entries of these rows that are above 0, their columns, and how many each row has."""
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
    """Compress counts, as their heavy tail would drown all else: ``ppmi``, ``log`` or ``none``."""
    if name == "ppmi":
        return ppmi(counts, smoothing, workers)
    return counts.log1p() if name == "log" else counts.copy()


@dataclass(frozen=True)
class _Slice:
    """Some rows of X = S - shift 1'."""

    rows: slice
    scaled: sp.csr_matrix
    shift: NDArray
    squares: float

    def forward(self, block: NDArray, sums: NDArray) -> NDArray:
        """Return X b, given 1'b."""
        product = self.scaled @ block
        product -= np.multiply.outer(self.shift, sums)
        return product

    def transposed(self, block: NDArray) -> tuple[NDArray, NDArray]:
        """Return S'b and shift'b; X'b is the one minus the other in every row."""
        return self.scaled.T @ block, self.shift @ block


class RowOperator:
    """X = M, or X = D^-1 (M - mean 1'), for sparse M, and its second moments C = X'X / n.

    In the second form each row has mean 0 and standard deviation 1 (a constant row becomes 0). That X is dense, so it
    is never formed. What is kept is the sparse S = D^-1 M and the vector shift = D^-1 mean, so X = S - shift 1' and

        X b = S b - shift (1'b),    X'b = S'b - 1 (shift'b).

    The rows are cut into a few slices X_i, and X'X b is the sum of X_i'(X_i b): what a thread has just computed
    it uses at once, and one copy of the matrix serves both products.

    Args:
        matrix: (n, V) sparse M.
        standardize: whether X is of the second form; in the first, D is 1 and the mean 0.
        dtype: float32 or float64, of all products.
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
        """Return X'b, (V, k), for b of shape (n, k)."""
        return self._sum_transposed(lambda part: block[part.rows], block.shape[1])

    def moments(self, block: NDArray) -> NDArray:
        """Return C b = X'(X b) / n, (V, k)."""
        sums = block.sum(axis=0)
        product = self._sum_transposed(lambda part: part.forward(block, sums), block.shape[1])
        product /= self.shape[0]
        return product

    def _sum_transposed(self, slice_of: Callable[[_Slice], NDArray], width: int) -> NDArray:
        """Return X'b from the slices of b, adding up what the slices give in their order."""
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
    """Cut into slices of rows with about equally many entries each, some perhaps empty."""
    goals = np.linspace(0, matrix.nnz, _SLICES + 1)
    cuts = np.searchsorted(matrix.indptr, goals)
    cuts[0], cuts[-1] = 0, matrix.shape[0]
    return [slice(start, stop) for start, stop in pairwise(cuts.tolist())]
