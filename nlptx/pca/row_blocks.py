"""Tall matrices in slices of rows that are cut the same for any number of threads, so that no bit depends on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nlptx.runtime.workers import Workers

# Rows of a slice: enough work for a thread, few enough that a vocabulary gives every thread some.
_ROWS = 4096


def row_slices(rows: int) -> list[slice]:
    """Cut ``rows`` rows into slices of a fixed length."""
    return [slice(start, min(start + _ROWS, rows)) for start in range(0, rows, _ROWS)]


def by_rows(work: Callable[[slice], NDArray], like: NDArray, columns: int, workers: Workers) -> NDArray:
    """Stack ``work(rows)`` of every slice into an array with the rows and the type of ``like``, (V, columns)."""
    result = np.empty((len(like), columns), like.dtype)

    def fill(rows: slice) -> None:
        result[rows] = work(rows)

    for _ in workers.map(fill, row_slices(len(like))):
        pass
    return result


def inner(a: NDArray, b: NDArray, workers: Workers) -> NDArray[np.float64]:
    """Return a'b, (k, l), of tall a (V, k) and b (V, l); the slices are added up in float64, in their order."""
    total = np.zeros((a.shape[1], b.shape[1]))
    for part in workers.map(lambda rows: a[rows].T @ b[rows], row_slices(len(a))):
        total += part
    return total
