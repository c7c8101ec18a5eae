"""Sums arrays with little rounding error, in an order that depends only on the number of arrays."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import NDArray


def pairwise_sum(arrays: Iterable[NDArray]) -> NDArray:
    """Return the sum of one or more arrays of the same shape, added in pairs, then in pairs of pairs, and so on.

        ((a + b) + (c + d)) + ((e + f) + g)

    The arrays are requested one at a time, and their memory is reused for the sums. For n arrays, at most
    1 + log2(n) of them, rounded up, are in memory at the same time.

    Source: Higham (1993), "The accuracy of floating point summation".
    """
    sums: list[tuple[int, NDArray]] = []  # pairs (number of arrays in the sum, sum), in order
    for array in arrays:
        count, total = 1, array
        while sums and sums[-1][0] == count:
            left = sums.pop()[1]
            left += total
            count, total = 2 * count, left
        sums.append((count, total))
    total = sums.pop()[1]
    while sums:
        left = sums.pop()[1]
        left += total
        total = left
    return total
