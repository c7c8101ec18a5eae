"""One-dimensional arrays that stay in the artifact file, because they may be larger than memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.npy import array_entry, parse_npy_header
from nlptx.errors import CorruptError
from nlptx.io.raw_bytes import as_bytes, read_exactly

# Number of bytes that are read at a time while the checksum is computed.
_PART = 8 << 20
# In a zip file, the data of each entry follows a header: 30 bytes, then the name and an extra field. Bytes 26 to 29
# contain the lengths of the name and of the extra field.
_LOCAL_HEADER, _LENGTHS = 30, 26


class StoredArray:
    """An array in an artifact file. The elements of the array are read from the file when they are needed.

    Args:
        container: the artifact, opened as a zip file. The array's checksum is verified when this object is created.
        name: name of the array.
        file: the artifact file, which must stay open as long as the array is used.

    Raises:
        CorruptError: the array is damaged, compressed or not one-dimensional.
        BadZipFile: the checksum is wrong.
    """

    def __init__(self, container: zipfile.ZipFile, name: str, file: BinaryIO) -> None:
        entry = array_entry(container, name)
        with container.open(entry) as stream:
            start = stream.read(_PART)
            while stream.read(_PART):  # reading to the end verifies the checksum
                pass
        self.dtype, shape, header = parse_npy_header(start, entry)
        if len(shape) != 1:
            raise CorruptError(f"array {name!r} has {len(shape)} dimensions; expected one")
        self.shape: tuple[int] = (shape[0],)
        self._file = file
        local = np.empty(_LOCAL_HEADER, np.uint8)
        read_exactly(file, as_bytes(local), entry.header_offset)
        lengths = int(local[_LENGTHS:].view("<u2").sum())
        self._start = entry.header_offset + _LOCAL_HEADER + lengths + header

    def __len__(self) -> int:
        return self.shape[0]

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the elements ``start`` to ``stop`` (exclusive). Several threads may call this method at the same time.

        Raises:
            CorruptError: the file was cut short while it was in use.
        """
        result = np.empty(stop - start, self.dtype)
        try:
            read_exactly(self._file, as_bytes(result), self._start + start * self.dtype.itemsize)
        except EOFError as error:
            raise CorruptError("the file was cut short while it was read") from error
        return result

    def parts(self) -> Iterator[NDArray[Any]]:
        """Yield consecutive parts of the array."""
        step = _PART // self.dtype.itemsize
        for start in range(0, len(self), step):
            yield self.read(start, min(start + step, len(self)))
