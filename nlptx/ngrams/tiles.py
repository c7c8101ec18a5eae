"""Products with X X', where X is a sparse matrix of texts by n-grams, by workers that divide X into tiles.

In X' b, each entry of X reads a row of b in random order. In X (X' b), it changes a row of the result in random order.
Both are fast only if these rows are in the processor cache. Therefore X is cut into slices of texts, whose rows fit in
the cache, and each slice is stored column by column. Slices are cut into ranges of n-grams too, so that each worker
computes some rows of a product completely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.pca.spilled_slices import in_memory
from nlptx.runtime.workers import Workers

# Maximum number of slices of texts, and of ranges of n-grams; a tile has about this number of entries or more.
_PIECES, _TILE_ENTRIES = 8, 1 << 14

# Function that returns a tile.
Load = Callable[[], sp.csc_matrix]


class Tiles:
    """A matrix X (texts, G), cut into tiles. The tiles depend only on the matrix, not on the workers.

    Args:
        rows: the matrix X.
        workers: threads, or a cluster, which stores the tiles in files; they do not change the result.

    Raises:
        OutputError: a tile cannot be stored for the cluster.
    """

    def __init__(self, rows: sp.csr_matrix, workers: Workers) -> None:
        self._workers = workers
        pieces = max(1, min(_PIECES, int((rows.nnz / _TILE_ENTRIES) ** 0.5)))
        self._texts = _even_slices(np.diff(rows.indptr), pieces)
        grams = _even_slices(np.bincount(rows.indices, minlength=rows.shape[1]), pieces)
        store = workers.store or in_memory

        def cut(texts: slice) -> list[Load]:
            by_column = rows[texts].tocsc()
            return [store(by_column[:, some]) for some in grams]

        self._by_texts = list(workers.map(cut, self._texts))  # one list per slice of texts
        self._by_grams = [list(tiles) for tiles in zip(*self._by_texts, strict=True)]  # one list per range of n-grams

    def gram(self, block: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return X X' b, (texts, k), for b (texts, k)."""
        parts = [block[texts] for texts in self._texts]
        of_grams = list(self._workers.map_shared(_transposed, parts, self._by_grams, in_memory=True))
        return np.concatenate(list(self._workers.map_shared(_forward, of_grams, self._by_texts, in_memory=True)))


def _even_slices(entries: NDArray[np.integer], count: int) -> list[slice]:
    """Cut rows or columns into ``count`` slices with about the same number of entries."""
    ends = np.cumsum(entries)
    cuts = np.searchsorted(ends, ends[-1] * np.arange(1, count) / count).tolist()
    return [slice(start, stop) for start, stop in pairwise([0, *cuts, len(ends)])]


def _forward(blocks: Sequence[NDArray[np.float32]], tiles: Sequence[Load]) -> NDArray[np.float32]:
    """Return the sum of the products of each tile and its block."""
    return _sum(load() @ block for load, block in zip(tiles, blocks, strict=True))


def _transposed(blocks: Sequence[NDArray[np.float32]], tiles: Sequence[Load]) -> NDArray[np.float32]:
    """Return the sum of the products of each transposed tile and its block."""
    return _sum(load().T @ block for load, block in zip(tiles, blocks, strict=True))


def _sum(products: Iterator[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the sum of some arrays, added in order."""
    total = next(products)
    for product in products:
        total += product
    return total
