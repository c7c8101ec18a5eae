"""Products of tall matrices, computed in blocks of rows.

The blocks, and therefore the sums, do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nlptx.runtime.workers import Workers

# Number of rows in a block: large enough to keep a thread busy, and small enough that each thread gets several blocks
# if the vocabulary has a typical size.
_ROWS = 4096


def row_slices(rows: int) -> list[slice]:
    """Return the slices that cut ``rows`` rows into blocks of a fixed length."""
    return [slice(start, min(start + _ROWS, rows)) for start in range(0, rows, _ROWS)]


def by_rows(work: Callable[[slice], NDArray], like: NDArray, columns: int, workers: Workers) -> NDArray:
    """Call ``work(rows)`` for all blocks of rows, and return the results, stacked vertically.

    Args:
        work: function that returns an array (rows of the block, columns) for a slice of rows.
        like: (V, ...) array with the number of rows and the dtype of the result.
        columns: number of columns of the result.
        workers: thread pool that computes the blocks; the number of threads does not change the result.

    Returns:
        (V, columns), in the dtype of ``like``.
    """
    result = np.empty((len(like), columns), like.dtype)

    def fill(rows: slice) -> None:
        result[rows] = work(rows)

    for _ in workers.map(fill, row_slices(len(like))):
        pass
    return result


def inner(a: NDArray, b: NDArray, workers: Workers) -> NDArray[np.float64]:
    """Return a^T b, (k, l) float64, for tall a (V, k) and b (V, l)."""
    return sum_over_rows(lambda rows: a[rows].T @ b[rows], len(a), (a.shape[1], b.shape[1]), workers)


def sum_over_rows(
    work: Callable[[slice], NDArray], rows: int, shape: tuple[int, int], workers: Workers
) -> NDArray[np.float64]:
    """Call ``work(rows)`` for all blocks of rows, and return the sum of the results, added in order.

    Args:
        work: function that returns an array of the given shape for a slice of rows.
        rows: number of rows.
        shape: shape of the result.
        workers: thread pool that computes the blocks; the number of threads does not change the result.
    """
    total = np.zeros(shape)
    for part in workers.map(work, row_slices(rows)):
        total += part
    return total
