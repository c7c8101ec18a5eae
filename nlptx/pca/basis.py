"""The orthonormal basis of power iteration: vectors are added to it, and eigenvectors are found within its span.

Source of the orthogonalisation: Stathopoulos & Wu (2002).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.pca.row_blocks import by_rows, inner, sum_over_rows
from nlptx.runtime.workers import Workers


class Basis:
    """An orthonormal basis W (V, width), and its product A W with the symmetric (V, V) matrix A.

    The first columns of W are the eigenvectors found in earlier rounds, followed by the iterates of this round.

    Args:
        eigenvectors: (V, F) the F eigenvectors found in earlier rounds.
        images: (V, F) product of A and these eigenvectors.
        capacity: maximum width of the basis.
        recent: maximum number of columns in the last two blocks together.
        workers: thread pool that computes the products; the number of threads does not change the result.
    """

    def __init__(self, eigenvectors: NDArray, images: NDArray, capacity: int, recent: int, workers: Workers) -> None:
        self.width = 0
        self._found, self._recent, self._workers = eigenvectors.shape[1], recent, workers
        shape = (len(eigenvectors), capacity)
        self._vectors = np.empty(shape, eigenvectors.dtype, order="F")  # the used columns are contiguous in memory
        self._images = np.empty_like(self._vectors)
        self._small = np.empty((capacity, capacity))  # W^T A W is symmetric, so only its upper triangle is filled
        self.append(eigenvectors, images)

    def append(self, block: NDArray, image: NDArray) -> None:
        """Add a block (V, k) to the basis; ``image`` is A times the block."""
        new = slice(self.width, self.width + block.shape[1])
        self.width = new.stop

        def add(rows: slice) -> NDArray:
            self._vectors[rows, new], self._images[rows, new] = block[rows], image[rows]
            return self._vectors[rows, : new.stop].T @ image[rows]

        self._small[: new.stop, new] = sum_over_rows(add, len(block), (new.stop, block.shape[1]), self._workers)

    def remainder(self, block: NDArray) -> NDArray:
        """Return an orthonormal basis of the part of ``block`` (V, k) that is orthogonal to this basis.

        Directions that consist only of rounding errors are dropped, so the result may have fewer columns than
        ``block``. The block is orthogonalised in two passes, because the first pass leaves rounding errors. A column
        that becomes much shorter in the second pass consisted only of rounding errors. The first pass subtracts only
        the projections onto the eigenvectors and onto the last two blocks. If there are earlier blocks, ``block`` is A
        times the last block, which is already orthogonal to the earlier ones, because A is symmetric.
        """
        eps = float(np.finfo(block.dtype).eps)
        recent = slice(max(self._found, self.width - self._recent), self.width)
        for smallest, spans in (100 * eps, (slice(self._found), recent)), (0.5, (slice(self.width),)):
            before = np.linalg.norm(block, axis=0)  # (k,)
            for span in spans:
                block = self._without(block, self._vectors[:, span])
            gram = inner(block, block, self._workers)  # (k, k)
            norms = np.sqrt(np.diag(gram))
            kept = norms > smallest * before
            norms = norms[kept]
            weights, rotation = np.linalg.eigh(gram[np.ix_(kept, kept)] / np.multiply.outer(norms, norms))
            nonzero = weights > 100 * eps * weights.max(initial=0)
            block = self._product(block[:, kept], rotation[:, nonzero] / np.sqrt(weights[nonzero]) / norms[:, None])
        return block

    def rayleigh_ritz(self, count: int) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return the best approximations, within the span of the basis, to at most ``count`` leading eigenpairs.

        The approximations are computed from the eigenpairs of W^T A W.

        Returns:
            The eigenvalues l (k,), largest first; the eigenvectors v (V, k); A v (V, k); and the residuals |A v - l v|
            (k,).
        """
        values, rotation = np.linalg.eigh(self._small[: self.width, : self.width], UPLO="U")
        values, rotation = values[::-1][:count].astype(self._vectors.dtype), rotation[:, ::-1][:, :count]
        vectors = self._product(self._vectors[:, : self.width], rotation)
        images = self._product(self._images[:, : self.width], rotation)
        errors = by_rows(lambda rows: images[rows] - vectors[rows] * values, images, len(values), self._workers)
        return values, vectors, images, np.linalg.norm(errors, axis=0)

    def _without(self, block: NDArray, span: NDArray) -> NDArray:
        """Return ``block`` minus its projection onto the orthonormal columns of ``span``, (V, k)."""
        part = inner(span, block, self._workers).astype(block.dtype)
        return by_rows(lambda rows: block[rows] - span[rows] @ part, block, block.shape[1], self._workers)

    def _product(self, block: NDArray, matrix: NDArray) -> NDArray:
        """Return the product of a block (V, k) and a small matrix (k, l), in the dtype of the block."""
        matrix = matrix.astype(block.dtype)
        return by_rows(lambda rows: block[rows] @ matrix, block, matrix.shape[1], self._workers)
