"""A memory limit for data, and growing arrays that move to a temporary file when they become too large for it.

The temporary files have no names, so the operating system removes them however the process ends.
"""

from __future__ import annotations

import errno
import shutil
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.errors import OutputError
from nlptx.io.raw_bytes import as_bytes, read_exactly
from nlptx.settings import DEFAULT_MEMORY

# Number of bytes that are read at a time when an array is read in parts.
_PART = 8 << 20
# Each large array of a stage may occupy 1/_ARRAYS of the memory limit before it moves to a file.
_ARRAYS = 16
# Number of bytes that must stay free on the disk, because other programs also write to it.
_RESERVE = 64 << 20


class MemoryBudget:
    """The memory limit of a stage, and the temporary files for data that exceeds this limit.

    A budget is used in a ``with`` block. The files are closed at the end of the block.

    Args:
        memory: number of bytes that the data of a stage may occupy in memory, not counting the interpreter and its
            libraries; None for the default.
        folder: folder for temporary files; None for the system default (TMPDIR).
    """

    def __init__(self, memory: int | None = None, folder: str | None = None) -> None:
        self.memory = DEFAULT_MEMORY if memory is None else memory
        self.folder = folder
        self._advice = (
            "Set the environment variable TMPDIR to a folder with more free space."
            if memory is None
            else "Set `tmp_dir` to a folder with more free space, or raise `memory`."
        )
        self._files = ExitStack()

    @classmethod
    def unlimited(cls) -> Self:
        """Return a budget without a limit, so that arrays never move to a file."""
        return cls(sys.maxsize)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._files.close()

    @property
    def array_limit(self) -> int:
        """Number of bytes that each large array of a stage may occupy in memory."""
        return self.memory // _ARRAYS

    def growing_array(self, dtype: DTypeLike, memory: int) -> GrowingArray:
        """Return an empty array, which moves to a temporary file when it exceeds ``memory`` bytes."""
        return GrowingArray(np.dtype(dtype), memory, self)

    def require(self, size: int) -> None:
        """Raise OutputError unless ``size`` bytes are free for temporary files."""
        folder = self._place()
        try:
            free = shutil.disk_usage(folder).free
        except OSError as error:
            raise self._failure(error) from error
        if free < size + _RESERVE:
            raise OutputError(
                f"temporary files need about {size / 1e6:,.0f} MB, and {_RESERVE / 1e6:,.0f} MB must stay free, but"
                f" only {free / 1e6:,.0f} MB is free",
                where=folder,
                hint=self._advice,
            )

    def keep(self, files: ExitStack) -> None:
        """Keep files open until the end of the ``with`` block of this budget."""
        self._files.push(files)

    def file(self) -> BinaryIO:
        """Open an unnamed temporary file."""
        try:
            return self._files.enter_context(tempfile.TemporaryFile(buffering=0, dir=self.folder))
        except OSError as error:
            raise self._failure(error) from error

    def write(self, file: BinaryIO, array: NDArray[Any]) -> None:
        """Append ``array`` to ``file``."""
        self.write_bytes(file, as_bytes(array))

    def write_bytes(self, file: BinaryIO, data: memoryview) -> None:
        """Append bytes to ``file``."""
        try:
            while data:
                data = data[file.write(data) :]
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> OutputError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return OutputError(
            f"temporary files cannot be written: {'the disk is full' if full else error.strerror}",
            where=self._place(),
            hint=self._advice,
        )

    def _place(self) -> str:
        """Return the folder for temporary files. Raises OutputError if none can be written to."""
        try:
            return self.folder or tempfile.gettempdir()
        except FileNotFoundError as error:
            raise OutputError("no folder for temporary files can be written to", hint=self._advice) from error


class GrowingArray:
    """A one-dimensional array to which entries are appended; :meth:`MemoryBudget.growing_array` creates it.

    Args:
        dtype: dtype of the entries.
        memory: number of bytes that the array may occupy in memory before it moves to a file.
        budget: budget that opens the temporary file.
    """

    def __init__(self, dtype: np.dtype[Any], memory: int, budget: MemoryBudget) -> None:
        self.dtype = dtype
        self._max_length = memory // dtype.itemsize
        self._budget = budget
        self._parts: list[NDArray[Any]] = []
        self._ends: list[int] = []  # index after the last entry of each part
        self._file: BinaryIO | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def is_in_file(self) -> bool:
        return self._file is not None

    @property
    def shape(self) -> tuple[int]:
        return (self._length,)

    def append(self, part: NDArray[Any]) -> None:
        """Append the entries of ``part``. Raises OutputError if the temporary file cannot grow.

        The entries may be stored without being copied, so the caller must not change ``part`` afterwards.
        """
        part = part.astype(self.dtype, copy=False)
        self._length += len(part)
        if self._file is not None:
            self._budget.write(self._file, part)
            return
        self._parts.append(part)
        self._ends.append(self._length)
        if self._length > self._max_length:
            self.spill()

    def spill(self) -> None:
        """Move the array to a temporary file now. Raises OutputError if there is not enough disk space."""
        if self._file is None:
            self._budget.require(self._length * self.dtype.itemsize)
            self._file = self._budget.file()
            for part in self._parts:
                self._budget.write(self._file, part)
            self._parts, self._ends = [], []

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the entries ``start`` to ``stop`` (exclusive). Several threads may read entries at the same time."""
        result = np.empty(stop - start, self.dtype)
        if self._file is None:
            number = bisect_right(self._ends, start)
            while start < stop:
                part, end = self._parts[number], self._ends[number]
                low, high = start - end + len(part), min(stop, end) - end + len(part)
                result[len(result) - (stop - start) :][: high - low] = part[low:high]
                start, number = start + high - low, number + 1
            return result
        read_exactly(self._file, as_bytes(result), start * self.dtype.itemsize)
        return result

    def close(self) -> None:
        """Release the memory and the file. The array must not be used afterwards."""
        self._parts, self._ends, self._length = [], [], 0
        if self._file is not None:
            self._file.close()

    def parts(self) -> Iterator[NDArray[Any]]:
        """Yield consecutive parts of the array."""
        if self._file is None:
            yield from self._parts
            return
        step = _PART // self.dtype.itemsize
        for start in range(0, self._length, step):
            yield self.read(start, min(start + step, self._length))

    def array(self) -> NDArray[Any]:
        """Return all entries as one array in memory."""
        return self.read(0, self._length)
