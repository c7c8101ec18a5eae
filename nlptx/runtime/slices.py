"""Finds the parts of an array that belong to individual texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def split_by_lengths(array: NDArray, lengths: Sequence[int] | NDArray[np.integer]) -> list[NDArray]:
    """Split an array into consecutive parts of given lengths. ``np.split`` does the same, but is slower per part."""
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return [array[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def slices_up_to(lengths: NDArray[np.int64], max_sum: int) -> Iterator[slice]:
    """Yield slices that divide ``lengths`` into consecutive groups, each with a sum of at most ``max_sum``.

    A length above ``max_sum`` is a group by itself.
    """
    ends = np.cumsum(lengths)
    start = before = 0
    while start < len(lengths):
        stop = max(int(np.searchsorted(ends, before + max_sum, side="right")), start + 1)
        yield slice(start, stop)
        start, before = stop, int(ends[stop - 1])


def ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return B concatenated ranges of integers, given their first integers (B,) and their lengths (B,).

    >>> ranges(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
