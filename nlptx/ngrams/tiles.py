"""Computes products with X X' for a sparse matrix X of texts by n-grams, which is cut into tiles for the workers.

X' b is computed first, then X (X' b). The first product reads the rows of b in an irregular order, and the second one
changes the rows of its result in an irregular order. Both are fast only if these rows are in the processor cache.
Therefore X is cut into slices of texts, each stored column by column. A slice has so few texts that its rows of b, or
of the result, fit in the cache. Each slice is also cut into ranges of n-grams, so that each worker computes complete
rows of a product.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.runtime.workers import Workers

# Maximum number of slices of texts, which is also that of ranges of n-grams; approximate minimum number of entries in a
# tile.
_PIECES, _TILE_ENTRIES = 8, 1 << 14


class Tiles:
    """A matrix X (texts, G), cut into tiles. The tiles depend only on the matrix, not on the number of workers.

    Args:
        rows: the matrix X.
        workers: pool of threads or processes; its size does not change the result.
    """

    def __init__(self, rows: sp.csr_matrix, workers: Workers) -> None:
        self._workers = workers
        pieces = max(1, min(_PIECES, int((rows.nnz / _TILE_ENTRIES) ** 0.5)))
        self._texts = _slices_of_equal_weight(np.diff(rows.indptr), pieces)
        grams = _slices_of_equal_weight(np.bincount(rows.indices, minlength=rows.shape[1]), pieces)

        def cut(texts: slice) -> list[sp.csc_matrix]:
            by_column = rows[texts].tocsc()
            return [by_column[:, some] for some in grams]

        self._tiles = list(workers.map(cut, self._texts))  # one list per slice of texts

    def gram(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return X X' b, (texts, k), for b (texts, k)."""
        parts = [block[texts] for texts in self._texts]
        by_grams = list(zip(*self._tiles, strict=True))  # one list per range of n-grams
        ngram_products = list(
            self._workers.map(lambda tiles: _sum_of_products([tile.T for tile in tiles], parts), by_grams)
        )
        return np.concatenate(
            list(self._workers.map(lambda tiles: _sum_of_products(tiles, ngram_products), self._tiles))
        )


def _slices_of_equal_weight(entries: NDArray[np.integer], count: int) -> list[slice]:
    """Cut rows (or columns) that have ``entries`` entries into ``count`` slices with similar numbers of entries."""
    ends = np.cumsum(entries)
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, count) / count).tolist()
    return [slice(start, stop) for start, stop in pairwise([0, *cuts, len(ends)])]


def _sum_of_products(matrices: Sequence[sp.spmatrix], blocks: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the sum of the products of each matrix and the block at the same index, added in the given order."""
    total = matrices[0] @ blocks[0]
    for matrix, block in zip(matrices[1:], blocks[1:], strict=True):
        total += matrix @ block
    return total
