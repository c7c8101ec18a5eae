"""Matrices of 8-bit numbers with a common exponent in each row (block floating point).

A row (K,) becomes integers q_k from -127 to 127 and an exponent e, so that its values are about q_k 2^e. The exponent
is the smallest one with which the largest value fits, so the error is at most 2^(e - 1), less than a hundredth of the
largest value of the row. Rounding the result again does not change it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_LARGEST = 127
# Range of the exponents. Larger values are cut off, and smaller ones become 0.
EXPONENTS = (-100, 100)


def to_block_floats(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the integers (N, K) and the exponents (N,) of a matrix (N, K)."""
    largest = np.abs(matrix).max(axis=1, initial=0)
    mantissa, power = np.frexp(largest)
    exponents = power - 7 + (mantissa > _LARGEST / 128)
    exponents = np.where(largest > 0, np.clip(exponents, *EXPONENTS), 0).astype(np.int8)
    scaled = np.rint(np.ldexp(matrix, -exponents[:, None].astype(np.int32)))
    return np.clip(scaled, -_LARGEST, _LARGEST).astype(np.int8), exponents


def from_block_floats(numbers: NDArray[np.int8], exponents: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the matrix (N, K) of integers (N, K) and exponents (N,)."""
    return numbers * np.ldexp(np.float32(1), exponents.astype(np.int32)).astype(np.float32)[:, None]


def rounded(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a matrix (N, K) with the accuracy of block floats."""
    return from_block_floats(*to_block_floats(matrix))
