"""Radix sort of integers.

NumPy sorts 64-bit integers by comparison, which takes 8 to 60 ns per integer, depending on the processor. NumPy sorts
16-bit integers by radix sort, which takes 4 ns per integer on all measured processors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_DIGIT = 16


def radix_argsort(numbers: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the indices that sort non-negative integers; the sort is stable.

    The integers are sorted by their lowest 16 bits, then by the next 16 bits, and so on. Each group of 16 bits is one
    digit.

    >>> radix_argsort(np.array([70000, 3, 70000, 1]))
    array([3, 1, 0, 2])
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, int(numbers.max(initial=0)).bit_length(), _DIGIT):
        digits = (numbers >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order
