"""Converts arrays to bytes and back, to send them between processes without pickling objects."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def arrays_to_bytes(arrays: Sequence[NDArray]) -> bytes:
    """Return the bytes of all arrays in NumPy's file format, one array after another."""
    file = io.BytesIO()
    for array in arrays:
        np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)
    return file.getvalue()


def bytes_to_arrays(content: bytes) -> list[NDArray]:
    """Return the arrays that :func:`arrays_to_bytes` converted to bytes.

    >>> bytes_to_arrays(arrays_to_bytes([np.arange(3), np.zeros(0)]))
    [array([0, 1, 2]), array([], dtype=float64)]
    """
    file = io.BytesIO(content)
    arrays = []
    while file.tell() < len(content):
        arrays.append(np.lib.format.read_array(file, allow_pickle=False))
    return arrays
