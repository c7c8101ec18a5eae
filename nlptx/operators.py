"""The matrix PCA works on, never densified: transformed counts, their rows standardised, as an operator."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray


def ppmi(counts: sp.csr_matrix, smoothing: float) -> sp.csr_matrix:
    """Return positive pointwise mutual information, max(0, log P(w, c) / (P(w) P_a(c))).

    Args:
        counts: (V, V) co-occurrence counts.
        smoothing: exponent a of the context distribution, P_a(c) = count(c)^a / sum of all count^a.

    Source: Levy, Goldberg & Dagan (2015), "Improving distributional similarity".
    """
    totals = np.asarray(counts.sum(axis=1)).ravel()
    smoothed = totals**smoothing
    # A word that occurs near no other has an empty row and column; any finite value does for it.
    log_word = np.log(np.where(totals > 0, totals, 1))
    log_context = np.log(np.where(totals > 0, smoothed, 1)) - np.log(smoothed.sum() or 1)
    pmi = np.log(counts.data)
    pmi -= np.repeat(log_word, np.diff(counts.indptr))
    pmi -= log_context[counts.indices]
    result = sp.csr_matrix((np.maximum(pmi, 0, out=pmi), counts.indices.copy(), counts.indptr.copy()), counts.shape)
    result.eliminate_zeros()
    return result


def transform(counts: sp.csr_matrix, name: str, smoothing: float) -> sp.csr_matrix:
    """Compress counts, as their heavy tail would drown all else: ``ppmi``, ``log`` or ``none``."""
    if name == "ppmi":
        return ppmi(counts, smoothing)
    return counts.log1p() if name == "log" else counts.copy()


class StandardizedRows:
    """X = D^-1 (M - mean 1'), for sparse M, and its covariance C = X'X / n.

    Each row of X has mean 0 and standard deviation 1 (a constant row becomes 0). X is dense, so only its
    products are ever formed:  X b = D^-1 (M b - mean (1'b)),  X'b = M'(D^-1 b) - 1 (mean'D^-1 b).

    Args:
        matrix: (n, V) sparse M.
        standardize: False takes X = M.
        dtype: float32 or float64, of all products.
        jobs: threads; the result does not depend on it.
    """

    def __init__(self, matrix: sp.csr_matrix, standardize: bool, dtype: DTypeLike, jobs: int) -> None:
        self.shape: tuple[int, int] = matrix.shape
        rows, columns = self.shape
        squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
        mean = np.zeros(rows)
        scale = np.ones(rows)
        if standardize:
            mean = np.asarray(matrix.mean(axis=1)).ravel()
            variance = np.maximum(squares / columns - mean**2, 0)
            constant = variance <= 1e-12 * (squares / columns)
            scale = np.where(constant, 0, 1 / np.sqrt(np.where(constant, 1, variance)))
            squares = np.where(constant, 0, columns)
        self.trace = float(squares.sum()) / rows
        self.mean = mean.astype(dtype)
        self.scale = scale.astype(dtype)
        self.dtype = np.dtype(dtype)
        small = matrix.astype(dtype)
        self._pool = ThreadPoolExecutor(jobs)
        self._rows = _slices(small, jobs)
        self._columns = _slices(small.T.tocsr(), jobs)

    def forward(self, block: NDArray) -> NDArray:
        """Return X b, (n, k), for b of shape (V, k)."""
        product = self._product(self._rows, block)
        product -= self.mean[:, None] * block.sum(axis=0)
        product *= self.scale[:, None]
        return product

    def transposed(self, block: NDArray) -> NDArray:
        """Return X'b, (V, k), for b of shape (n, k)."""
        scaled = block * self.scale[:, None]
        product = self._product(self._columns, scaled)
        product -= self.mean @ scaled
        return product

    def covariance(self, block: NDArray) -> NDArray:
        """Return C b = X'(X b) / n, (V, k)."""
        product = self.transposed(self.forward(block))
        product /= self.shape[0]
        return product

    def _product(self, slices: list[sp.csr_matrix], block: NDArray) -> NDArray:
        """Multiply row slices in threads; scipy.sparse releases the interpreter lock."""
        return np.concatenate(list(self._pool.map(lambda part: part @ block, slices)))


def _slices(matrix: sp.csr_matrix, parts: int) -> list[sp.csr_matrix]:
    """Cut into row slices with about equally many entries each."""
    goals = np.linspace(0, matrix.nnz, parts + 1)
    cuts = np.searchsorted(matrix.indptr, goals)
    cuts[0], cuts[-1] = 0, matrix.shape[0]
    return [matrix[start:stop] for start, stop in pairwise(cuts)]
