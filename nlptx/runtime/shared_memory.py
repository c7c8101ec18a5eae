"""Arrays in memory that a process shares with its forked child processes."""

from __future__ import annotations

import math
import mmap

import numpy as np
from numpy.typing import DTypeLike, NDArray


def shared_zeros(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray:
    """Return an array of zeros in memory that forked processes share. Unwritten pages take up no memory."""
    dtype = np.dtype(dtype)
    count = math.prod(shape) if isinstance(shape, tuple) else shape
    try:
        memory = mmap.mmap(-1, max(1, count * dtype.itemsize))
    except OSError as error:
        raise MemoryError(f"no room for {count * dtype.itemsize:,} bytes") from error
    return np.frombuffer(memory, dtype, count).reshape(shape)


def shared_copy(array: NDArray) -> NDArray:
    """Return a copy in shared memory."""
    copy = shared_zeros(array.shape, array.dtype)
    copy[...] = array
    return copy
