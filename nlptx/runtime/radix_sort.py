"""The order of whole numbers, by distribution.

NumPy sorts 64-bit numbers by comparing them, in 8 to 60 ns each, as the processor has it; numbers of 16 bits it
distributes, in 4 ns on all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_DIGIT = 16


def radix_argsort(numbers: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the places of numbers, none of them negative, from the smallest to the largest; equal ones as they come.

    Sorted by their last 16 bits, then by the 16 before those, and so on, as by the digits of a number.

    >>> radix_argsort(np.array([70000, 3, 70000, 1]))
    array([3, 1, 0, 2])
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    for shift in range(_DIGIT, int(numbers.max(initial=0)).bit_length(), _DIGIT):
        digits = (numbers >> shift).astype(np.uint16)
        order = order[np.argsort(digits[order], kind="stable")]
    return order
