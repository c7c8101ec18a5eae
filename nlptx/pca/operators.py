"""The matrix of transformed counts that PCA analyses, as a linear operator. The matrix is never made dense.

V is the number of words, and k the number of vectors in the block to be multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from nlptx.pca.pairwise_sum import pairwise_sum
from nlptx.pca.spilled_slices import Load, in_memory
from nlptx.pca.transform import RowMatrix, even_slices
from nlptx.runtime.workers import SERIAL, Workers


@dataclass(frozen=True)
class Slice:
    """Consecutive rows of X = S - shift 1^T, as defined in :class:`RowOperator`.

    Args:
        rows: range of rows that the slice covers.
        load: function that reads these rows of S, (rows, V), from memory or from a file, and returns them.
        shift: (rows,) entries of the vector ``shift`` for these rows.
    """

    rows: slice
    load: Load
    shift: NDArray

    def __str__(self) -> str:
        return f"rows {self.rows.start + 1:,} to {self.rows.stop:,}"

    def forward(self, scaled: sp.csr_matrix, block: NDArray) -> NDArray:
        """Return X b, (rows, k), for b (V, k); ``scaled`` is the result of ``load``."""
        product = scaled @ block
        product -= np.multiply.outer(self.shift, block.sum(axis=0))
        return product

    def transposed(self, scaled: sp.csr_matrix, block: NDArray) -> NDArray:
        """Return X^T b, (V, k), for b (rows, k); ``scaled`` is the result of ``load``."""
        product = scaled.T @ block
        product -= self.shift @ block
        return product


class RowOperator:
    """Computes products with X, X^T and the second moments C = X^T X / n, for a matrix X made from a sparse matrix M.

        X = M    or, standardised,    X = D^-1 (M - mean 1^T)

    In the standardised form, each row has mean 0 and standard deviation 1 (a constant row becomes 0); the vector
    ``mean`` and the diagonal matrix D contain the means and the standard deviations of the rows of M. A standardised X
    is dense, so it is never computed. Only the sparse matrix S = D^-1 M and the vector shift = D^-1 (row means) are
    stored. Then X = S - shift 1^T, and

        X b = S b - shift (1^T b),    X^T b = S^T b - 1 (shift^T b).

    The rows of X are cut into a few slices X_i. If X is symmetric, X^T X b = X (X b): X is applied twice, and each
    time, each slice computes some rows of the result. If X is not symmetric, X^T X b is the sum of X_i^T (X_i b), so no
    transposed copy of the matrix is needed. The slices determine the order of all additions.

    Args:
        shape: (n, V), the shape of X.
        dtype: float32 or float64, the dtype of all products.
        squares: sum of all squared entries of X.
        slices: the slices of X, in order. If a cluster computes the products, its workers must be able to load the
            slices.
        workers: thread pool or cluster that computes the products of the slices; both give the same result.
        symmetric: whether X is exactly symmetric.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: DTypeLike,
        squares: float,
        slices: Sequence[Slice],
        workers: Workers = SERIAL,
        symmetric: bool = False,
    ) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.trace = squares / shape[0]
        self._slices, self._workers = slices, workers
        self._symmetric = symmetric

    @classmethod
    def of(
        cls,
        matrix: RowMatrix,
        standardize: bool,
        dtype: DTypeLike,
        workers: Workers = SERIAL,
        store: Callable[[sp.csr_matrix], Load] = in_memory,
        symmetric: bool = False,
    ) -> Self:
        """Return the operator for the matrix X made from M.

        Args:
            matrix: (n, V) sparse M. Each row of M is read once.
            standardize: whether X is standardised.
            dtype: float32 or float64, the dtype of all products.
            workers: thread pool for reading the rows and for the products; the number of threads does not change the
                result.
            store: function that stores a slice of S, and returns a function that loads the slice.
            symmetric: whether M is exactly symmetric.

        Raises:
            OutputError: a slice cannot be stored.
        """
        dtype = np.dtype(dtype)
        slices: list[Slice] = []
        squares = 0.0
        for rows, (scaled, shift, sum_of_squares) in workers.map_pairs(
            lambda rows: scale_rows(matrix[rows], standardize, dtype), ((rows, rows) for rows in even_slices(matrix))
        ):
            slices.append(Slice(rows, store(scaled), shift))
            squares += sum_of_squares
        return cls(matrix.shape, dtype, squares, slices, workers, symmetric and not standardize)

    def forward(self, block: NDArray) -> NDArray:
        """Return X b, (n, k), for b of shape (V, k)."""
        return np.concatenate(list(self._multiply(_forward, block)))

    def transposed(self, block: NDArray) -> NDArray:
        """Return X^T b, (V, k), for b of shape (n, k)."""
        return pairwise_sum(self._multiply(_transposed, block))

    def moments(self, block: NDArray) -> NDArray:
        """Return C b = X^T (X b) / n, (V, k), for b of shape (V, k)."""
        if self._symmetric:
            product = self.forward(self.forward(block))
        else:
            product = pairwise_sum(self._multiply(_moments, block))
        product /= self.shape[0]
        return product

    def _multiply(self, product: Callable[[NDArray, Slice], NDArray], block: NDArray) -> Iterator[NDArray]:
        """Yield ``product(block, slice)`` for each slice, in order."""
        return self._workers.map_shared(product, block, self._slices, threads_only=True)


def _forward(block: NDArray, part: Slice) -> NDArray:
    return part.forward(part.load(), block)


def _transposed(block: NDArray, part: Slice) -> NDArray:
    return part.transposed(part.load(), block[part.rows])


def _moments(block: NDArray, part: Slice) -> NDArray:
    scaled = part.load()  # the slice is loaded only once, because it may be in a file
    return part.transposed(scaled, part.forward(scaled, block))


def scale_rows(part: sp.csr_matrix, standardize: bool, dtype: np.dtype) -> tuple[sp.csr_matrix, NDArray, float]:
    """Given rows of M, return the same rows of S and of ``shift``, and the sum of squares of the same rows of X."""
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
    return (
        sp.csr_matrix((scaled, part.indices, part.indptr), part.shape),
        (mean * scale).astype(dtype),
        float(squares.sum()),
    )
