"""Arrays of 8-bit numbers with a common exponent for each block of 32 numbers (block floating point).

An array of any shape is cut into blocks of consecutive numbers, in C order. A block is stored as one exponent e and,
for each number, an integer q from -127 to 127; the number is approximately q * 2^e. The exponent e is the smallest one
for which 127 * 2^e is at least the largest absolute value in the block. The error of a number is therefore at most
2^(e - 1), which is less than a hundredth of that value. Converting an array to block floats and back rounds the array;
converting the rounded array again does not change it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.validation import require_array
from nlptx.errors import CorruptError

_BLOCK = 32
_MAX_INTEGER = 127
# Minimum and maximum exponent. Numbers that are too large for the maximum exponent are clipped, and numbers that are
# too small for the minimum exponent become 0.
_EXPONENTS = (-100, 100)


def to_block_floats(array: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return the integers (in the shape of the array) and the exponents (one per block)."""
    blocks = _in_blocks(array)
    largest = np.abs(blocks).max(axis=1, initial=0)
    mantissa, power = np.frexp(largest)
    exponents = power - 7 + (mantissa > _MAX_INTEGER / 128)
    exponents = np.where(largest > 0, np.clip(exponents, *_EXPONENTS), 0).astype(np.int8)
    scaled = np.rint(np.ldexp(blocks, -exponents[:, None].astype(np.int32)))
    integers = np.clip(scaled, -_MAX_INTEGER, _MAX_INTEGER).astype(np.int8)
    return integers.reshape(-1)[: array.size].reshape(array.shape), exponents


def from_block_floats(integers: NDArray[np.int8], exponents: NDArray[np.int8]) -> NDArray[np.float32]:
    """Return the array that the integers and exponents represent, with the shape of the integers."""
    powers = np.ldexp(np.float32(1), exponents.astype(np.int32)).astype(np.float32)
    return (_in_blocks(integers) * powers[:, None]).reshape(-1)[: integers.size].reshape(integers.shape)


def rounded(array: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the array rounded to values that block floats can represent."""
    return from_block_floats(*to_block_floats(array))


def float_arrays(name: str, array: NDArray[np.float32], compact: bool) -> dict[str, NDArray]:
    """Return the arrays to store, by name: the array itself or, if ``compact``, two arrays with its block floats."""
    if not compact:
        return {name: array}
    integers, exponents = to_block_floats(array)
    return {name: integers, f"{name}_exponents": exponents}


def read_floats(artifact: Artifact, name: str, compact: bool, shape: tuple[int | None, ...]) -> NDArray[np.float32]:
    """Return an array stored by :func:`float_arrays`. An axis for which ``shape`` contains None may have any length.

    Raises:
        CorruptError: an array is missing or invalid.
    """
    if not compact:
        return require_array(artifact, name, "float32", shape)
    integers = require_array(artifact, name, "int8", shape)
    exponents = require_array(artifact, f"{name}_exponents", "int8", (-(-integers.size // _BLOCK),))
    if (exponents < _EXPONENTS[0]).any() or (exponents > _EXPONENTS[1]).any() or (integers < -_MAX_INTEGER).any():
        raise CorruptError(f"array {name!r} holds a number that is out of range")
    return from_block_floats(integers, exponents)


def _in_blocks(array: NDArray) -> NDArray:
    """Return the numbers of an array in rows of _BLOCK numbers. The last row is padded with zeros."""
    flat = array.reshape(-1)
    missing = -len(flat) % _BLOCK
    return (np.append(flat, np.zeros(missing, flat.dtype)) if missing else flat).reshape(-1, _BLOCK)
