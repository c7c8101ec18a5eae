"""Matrices of 8-bit numbers with a common exponent in each row (block floating point).

A row (K,) becomes integers q_k from -127 to 127 and an exponent e, so that its values are about q_k 2^e. The exponent
is the smallest one with which the largest value fits, so the error is at most 2^(e - 1), less than a hundredth of the
largest value of the row. Rounding the result again does not change it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.container import Artifact
from nlptx.artifacts.validation import need_array
from nlptx.errors import CorruptError

_LARGEST = 127
# Range of the exponents. Larger values are cut off, and smaller ones become 0.
_EXPONENTS = (-100, 100)


def to_block_floats(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the integers (N, K) and the exponents (N,) of a matrix (N, K)."""
    largest = np.abs(matrix).max(axis=1, initial=0)
    mantissa, power = np.frexp(largest)
    exponents = power - 7 + (mantissa > _LARGEST / 128)
    exponents = np.where(largest > 0, np.clip(exponents, *_EXPONENTS), 0).astype(np.int8)
    scaled = np.rint(np.ldexp(matrix, -exponents[:, None].astype(np.int32)))
    return np.clip(scaled, -_LARGEST, _LARGEST).astype(np.int8), exponents


def from_block_floats(numbers: NDArray[np.int8], exponents: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the matrix (N, K) of integers (N, K) and exponents (N,)."""
    return numbers * np.ldexp(np.float32(1), exponents.astype(np.int32)).astype(np.float32)[:, None]


def rounded(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a matrix (N, K) with the accuracy of block floats."""
    return from_block_floats(*to_block_floats(matrix))


def block_float_arrays(name: str, matrix: NDArray[np.float32]) -> dict[str, NDArray[np.int8]]:
    """Return a matrix as the arrays ``name`` and ``name_exponents`` of an artifact."""
    numbers, exponents = to_block_floats(matrix)
    return {name: numbers, f"{name}_exponents": exponents}


def read_block_floats(artifact: Artifact, name: str, shape: tuple[int | None, int | None]) -> NDArray[np.float32]:
    """Return a matrix stored by :func:`block_float_arrays`; None in ``shape`` means any length.

    Raises:
        CorruptError: an array is missing or invalid.
    """
    numbers = need_array(artifact, name, "int8", shape)
    exponents = need_array(artifact, f"{name}_exponents", "int8", (len(numbers),))
    if (exponents < _EXPONENTS[0]).any() or (exponents > _EXPONENTS[1]).any() or (numbers < -_LARGEST).any():
        raise CorruptError(f"array {name!r} holds a number that is out of range")
    return from_block_floats(numbers, exponents)
