"""Writes arrays as ``.npy`` entries of a zip file, in the format of ``numpy.savez``, and reads and checks them."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import CorruptError
from nlptx.io.raw_bytes import as_bytes

# Allowed dtypes, by their names in .npy files. |S3 is the dtype of the entry "format" of a sparse matrix; its value
# "csr" tells SciPy how the matrix is stored.
DTYPES = {"|u1", "|i1", "<i4", "<i8", "<f2", "<f4", "<f8", "|S3"}
# Pattern of the .npy headers that NumPy writes. NumPy's reader is not used, because it parses the header as
# Python source, so a damaged header could raise any parser error. The lengths in a shape have at most 18 digits, so
# that they fit in 64 bits.
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00(?s:..)\{'descr': '(?P<dtype>[^']*)', 'fortran_order': False,"
    rb" 'shape': \((?P<shape>(\d{1,18}, ?)*(\d{1,18})?)\),? ?\} *\n"
)


class ArrayInFile(Protocol):
    """A one-dimensional array that may be too large for memory, so it is written part by part."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def shape(self) -> tuple[int]: ...

    def parts(self) -> Iterator[NDArray]:
        """Yield consecutive parts of the array."""


def write_array(container: zipfile.ZipFile, name: str, array: NDArray | ArrayInFile) -> None:
    """Write an array as one entry of the container. An :class:`ArrayInFile` is copied part by part."""
    parts = [np.asarray(array, order="C")] if isinstance(array, np.ndarray) else array.parts()
    # ZipInfo sets the date of the entry to 1980 unless a date is given, so the bytes do not depend on the clock.
    with container.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
        header = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
        np.lib.format.write_array_header_1_0(entry, header)
        for part in parts:
            entry.write(as_bytes(part))


def read_array(container: zipfile.ZipFile, name: str) -> NDArray:
    """Read an array. The result is read-only, because it is a view of the bytes that were read.

    Raises CorruptError if the array is damaged.
    """
    entry = array_entry(container, name)
    data = container.read(entry)  # checks the CRC-32
    dtype, shape, header = parse_npy_header(data, entry)
    return np.frombuffer(data, dtype, math.prod(shape), header).reshape(shape)


def array_entry(container: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the zip entry of an array. Raises CorruptError if the entry is compressed."""
    entry = container.getinfo(name + ".npy")
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise CorruptError(f"array {name!r} is compressed; expected an uncompressed array")
    return entry


def parse_npy_header(data: bytes, entry: zipfile.ZipInfo) -> tuple[np.dtype[Any], list[int], int]:
    """Return the dtype and the shape of an array, and the number of bytes before its data.

    Args:
        data: the first bytes of the entry, or all of its bytes.
        entry: the zip entry of the array.

    Raises:
        CorruptError: the entry is not an array in NumPy's .npy format, or its size does not match its header.
    """
    name = entry.filename.removesuffix(".npy")
    header = _NPY.match(data)
    if header is None:
        raise CorruptError(f"entry {entry.filename} is not an array in NumPy's .npy format")
    dtype = header["dtype"].decode("latin-1")
    if dtype not in DTYPES:
        raise CorruptError(f"array {name!r} is {dtype}; artifacts hold plain numbers and no objects")
    shape = [int(length) for length in header["shape"].replace(b",", b" ").split()]
    length = entry.file_size - header.end()
    if math.prod(shape) * np.dtype(dtype).itemsize != length:
        raise CorruptError(f"array {name!r} has {length} bytes, which does not match its shape {shape}")
    return np.dtype(dtype), shape, header.end()
