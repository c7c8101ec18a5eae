"""Reads and writes the bytes of arrays without copying them."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


def as_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array without copying them."""
    return memoryview(array.reshape(-1).view(np.uint8).data)


def read_exactly(file: BinaryIO, view: memoryview, offset: int) -> None:
    """Fill ``view`` with the bytes of a file from ``offset`` on. Raises EOFError if the file is too short."""
    while view:
        count = os.preadv(file.fileno(), [view], offset)
        if not count:
            raise EOFError("the file is too short")
        view, offset = view[count:], offset + count
