"""Cuts an array into the parts that belong to consecutive texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def in_lengths(array: NDArray, lengths: Sequence[int] | NDArray[np.integer]) -> list[NDArray]:
    """Cut an array into consecutive parts of these lengths. ``np.split`` does the same, but takes longer per part."""
    ends = np.cumsum(lengths, dtype=np.int64).tolist()
    return [array[start:end] for start, end in zip([0, *ends], ends, strict=False)]
