"""Reads and writes compressed files.

Reading needs little memory. A file that would need a lot of memory causes an error, and so does a damaged file.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, BinaryIO, cast

from nlptx.io.truncation import open_detecting_truncation

_BLOCK = 1 << 16
# Maximum memory for decompressing an .xz file, in bytes. The header of an .xz file can ask for up to 4 GiB. A file made
# with the strongest preset, xz -9, needs about 65 MiB.
_XZ_MEMORY = 128 << 20
# Number of bytes that show whether a file is compressed, and minimum number of bytes that one read returns before the
# end of the file.
_MAGIC_BYTES, _MIN_READ = 6, 4096


class _GzipDecompressor:
    """Decompressor of one stream of a .gz file, with the interface of BZ2Decompressor. Verifies the checksum."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, packed: bytes, max_length: int) -> bytes:
        data = self._inner.decompress(self._inner.unconsumed_tail + packed, max_length)
        # If the output has the maximum length, the decompressor may produce more output without further input.
        self.needs_input = not self._inner.unconsumed_tail and len(data) < max_length
        return data


def _xz_decompressor() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY)


# Functions that return a decompressor of one stream, by the suffix of the file and by its first bytes.
_BY_SUFFIX: dict[str, Callable[[], Any]] = {
    ".gz": _GzipDecompressor,
    ".bz2": bz2.BZ2Decompressor,
    ".xz": _xz_decompressor,
}
_BY_MAGIC: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": _GzipDecompressor,
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": _xz_decompressor,
}


def is_compressed(name: str) -> bool:
    """Return whether a file is compressed, judging by its name."""
    return os.path.splitext(name)[1].lower() in _BY_SUFFIX


def open_by_name(name: str) -> BinaryIO:
    """Open a file for reading, decompressed if its name ends in .gz, .bz2 or .xz."""
    return _decompressed(open_detecting_truncation(name), _BY_SUFFIX.get(os.path.splitext(name)[1].lower()))


def open_by_content(name: str) -> BinaryIO:
    """Open a file for reading. A file is decompressed if its first bytes show that it is compressed.

    The file is opened only once, because it may be a pipe.
    """
    file = open_detecting_truncation(name)
    start = file.peek(_MAGIC_BYTES)
    return _decompressed(file, next((new for magic, new in _BY_MAGIC.items() if start.startswith(magic)), None))


def _decompressed(file: BinaryIO, new_stream: Callable[[], Any] | None) -> BinaryIO:
    """Return the decompressed contents of a file or, if ``new_stream`` is None, the file itself."""
    return file if new_stream is None else cast(BinaryIO, io.BufferedReader(_Streams(file, new_stream), _BLOCK))


def compressing(file: BinaryIO, name: str) -> AbstractContextManager[BinaryIO]:
    """Wrap an output file so that its bytes are compressed if ``name`` ends in .gz, .bz2 or .xz.

    The same contents always give the same bytes, because neither a file name nor a time is stored. Closing the wrapper
    leaves ``file`` open.
    """
    return cast(Any, _WRITERS.get(os.path.splitext(name)[1].lower(), nullcontext))(file)


def _gzip_writer(file: BinaryIO) -> Any:
    import gzip

    return gzip.GzipFile("", "wb", fileobj=file, mtime=0)


_WRITERS = {".gz": _gzip_writer, ".bz2": partial(bz2.BZ2File, mode="wb"), ".xz": partial(lzma.LZMAFile, mode="wb")}


class _Streams(io.RawIOBase):
    """The decompressed contents of a file that consists of one or more compressed streams.

    The corresponding classes of the standard library are not used, because they accept an empty .gz file as valid,
    treat damage after the first stream of a .bz2 or .xz file as the end of the file, and allocate as much memory as an
    .xz file demands.

    Args:
        file: compressed file, which is closed together with this object.
        new_stream: function that returns a decompressor of one stream.
    """

    def __init__(self, file: BinaryIO, new_stream: Callable[[], Any]) -> None:
        self._file = file
        self._new_stream = new_stream
        self._stream = new_stream()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Read at least _MIN_READ bytes, even if several short streams follow each other, or up to the end."""
        view, filled = memoryview(buffer), 0
        while filled < min(len(view), _MIN_READ) and (count := self._read_some(view[filled:])):
            filled += count
        return filled

    def _read_some(self, buffer: memoryview) -> int:
        """Read at least one byte, or none at the end of the file."""
        while True:
            packed = b""
            if self._stream.eof:
                # NUL bytes between streams are allowed.
                packed = self._stream.unused_data.lstrip(b"\0")
                while not packed and (block := self._file.read(_BLOCK)):
                    packed = block.lstrip(b"\0")
                if not packed:
                    return 0
                self._stream = self._new_stream()
            elif self._stream.needs_input:
                packed = self._file.read(_BLOCK)
                if not packed:
                    raise EOFError("the file ends in the middle of a compressed stream")
            data = self._stream.decompress(packed, len(buffer))
            if data:
                buffer[: len(data)] = data
                return len(data)
