"""Partitions: pieces of the inputs that can be read independently, on any machine.

The partitions depend only on the inputs, not on the number of workers.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from nlptx.errors import DataError
from nlptx.io.truncation import open_detecting_truncation

# Number of bytes that are read at a time to count lines.
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Partition:
    """Consecutive lines of a file, or a whole input that cannot be cut.

    Compressed files, Parquet files, archives and folders cannot be cut. A line belongs to the partition that contains
    its first byte. When a partition of a CSV or TSV file is read, the header of the file comes first.

    Args:
        name: the input as the user gave it, shown in messages.
        path: absolute path of the input.
        start: offset of the first byte.
        stop: offset after the last byte; None for a whole input.
        header: size of the file's table header in bytes, or 0. If ``start`` is 0, the lines include the header;
            otherwise, the header is read before the lines.
        text_column: name of the column that contains the texts, as determined by the first row of the file; only for
            files of JSON lines that are cut.
    """

    name: str
    path: str
    start: int = 0
    stop: int | None = None
    header: int = 0
    text_column: str | None = None

    def __str__(self) -> str:
        return self.name if self.stop is None else f"{self.name}, bytes {self.start:,} to {self.stop:,}"

    @property
    def is_whole(self) -> bool:
        return self.stop is None

    @property
    def size(self) -> int:
        """Size on disk in bytes; for a folder, the size of all files in it."""
        if self.stop is not None:
            return self.stop - self.start
        if os.path.isdir(self.path):
            files = (os.path.join(folder, name) for folder, _, names in os.walk(self.path) for name in names)
            return sum(os.path.getsize(file) for file in files if os.path.isfile(file))
        return os.path.getsize(self.path)

    def displayed(self, path: str) -> str:
        """Replace the absolute path of the input at the beginning of ``path`` with the path that the user gave."""
        name = str(Path(self.name)) if os.path.isdir(self.path) else self.name
        return name + path.removeprefix(self.path)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the lines of this partition for reading. The partition must not be a whole input."""
        assert self.stop is not None
        with open_detecting_truncation(self.path) as file:
            first, last = (_line_start(file, offset) for offset in (self.start, self.stop))
            file.seek(0)
            header = file.read(self.header) if self.start else b""
            file.seek(first)
            yield cast(BinaryIO, io.BufferedReader(_Range(header, file, last - first), _BLOCK))

    def locate(self, where: str) -> str:
        """Convert ``file:line``, with lines counted from the start of the partition, to a position in the file."""
        name, colon, line = where.rpartition(":")
        if not self.start or name != self.name or not line.isdecimal():
            return where
        with open_detecting_truncation(self.path) as file:
            remaining = _line_start(file, self.start) - self.header
            file.seek(self.header)
            lines = 0
            while block := file.read(min(_BLOCK, remaining)):
                remaining -= len(block)
                lines += block.count(b"\n")
        return f"{name}{colon}{int(line) + lines}"

    @contextmanager
    def errors_located(self) -> Iterator[None]:
        """Convert the position in a DataError raised in the ``with`` block to a position in the whole file."""
        try:
            yield
        except DataError as error:
            error.where = self.locate(error.where)
            raise


def _line_start(file: BinaryIO, offset: int) -> int:
    """Return the offset of the first line that starts at or after ``offset``."""
    if offset == 0:
        return 0
    file.seek(offset - 1)
    file.readline()
    return file.tell()


class _Range(io.RawIOBase):
    """A stream of the bytes ``first``, followed by the next ``size`` bytes of ``file``."""

    def __init__(self, first: bytes, file: io.BufferedReader, size: int) -> None:
        self._first = first
        self._file = file
        self._size = size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer))
        if self._first:
            count = min(len(view), len(self._first))
            view[:count], self._first = self._first[:count], self._first[count:]
            return count
        count = self._file.readinto(view[: self._size])
        self._size -= count
        return count
