"""Growing arrays that spill to disk: in memory while they are small, in a temporary file from then on.

The files have no name, so the system removes them however the process ends.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.errors import OutputError
from nlptx.settings import DEFAULT_MEMORY

# Bytes read at a time when a whole array is iterated.
_PART = 8 << 20
# Bytes left free on the disk, because other programs write to it too.
_RESERVE = 64 << 20


def as_bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array without copying them."""
    return memoryview(array.reshape(-1).view(np.uint8).data)


class MemoryBudget:
    """How much memory a stage may use, and where the rest is spilled; a context that closes the files at its end.

    Args:
        memory: bytes of memory for the data of a stage, not counting the interpreter and its libraries; None for the
            default, where the caller offers no choice.
        folder: folder of the temporary files; None for the system's (TMPDIR).
    """

    def __init__(self, memory: int | None = None, folder: str | None = None) -> None:
        self.memory = DEFAULT_MEMORY if memory is None else memory
        self.folder = folder
        self._advice = (
            "Choose a folder with more free space with the environment variable TMPDIR."
            if memory is None
            else "Choose a folder with more free space with `tmp_dir`, or raise `memory`."
        )
        self._files = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._files.close()

    def spilled_array(self, dtype: DTypeLike, memory: int) -> SpilledArray:
        """Return an empty array that takes at most ``memory`` bytes of memory."""
        return SpilledArray(np.dtype(dtype), memory, self)

    def require(self, size: int) -> None:
        """Raise OutputError unless ``size`` bytes are free for temporary files."""
        place = self.folder or tempfile.gettempdir()
        try:
            free = shutil.disk_usage(place).free
        except OSError as error:
            raise self._failure(error) from error
        if free < size + _RESERVE:
            raise OutputError(
                f"temporary files need about {size / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free",
                where=place,
                hint=self._advice,
            )

    def file(self) -> BinaryIO:
        """Open an unnamed temporary file."""
        try:
            return self._files.enter_context(tempfile.TemporaryFile(buffering=0, dir=self.folder))
        except OSError as error:
            raise self._failure(error) from error

    def write(self, file: BinaryIO, array: NDArray[Any]) -> None:
        """Append ``array`` to ``file``."""
        data = as_bytes(array)
        try:
            while data:
                data = data[file.write(data) :]
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> OutputError:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return OutputError(
            f"temporary files cannot be written: {'the disk is full' if full else error.strerror}",
            where=self.folder or tempfile.gettempdir(),
            hint=self._advice,
        )


class SpilledArray:
    """A one-dimensional array that grows at its end; made by :meth:`MemoryBudget.spilled_array`.

    Args:
        dtype: dtype of its entries.
        memory: bytes it may occupy before it moves to a file.
        budget: opens that file.
    """

    def __init__(self, dtype: np.dtype[Any], memory: int, budget: MemoryBudget) -> None:
        self.dtype = dtype
        self._max_length = memory // dtype.itemsize
        self._budget = budget
        self._parts: list[NDArray[Any]] = []
        self._file: BinaryIO | None = None
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def shape(self) -> tuple[int]:
        return (self._length,)

    def append(self, part: NDArray[Any]) -> None:
        """Append entries. Raises OutputError if the temporary file cannot grow."""
        part = part.astype(self.dtype, copy=False)
        self._length += len(part)
        if self._file is not None:
            self._budget.write(self._file, part)
            return
        self._parts.append(part)
        if self._length > self._max_length:
            self.leave_memory()

    def leave_memory(self) -> None:
        """Move to a temporary file now. Raises OutputError if the disk has no room for it."""
        if self._file is None:
            self._budget.require(self._length * self.dtype.itemsize)
            self._file = self._budget.file()
            for part in self._parts:
                self._budget.write(self._file, part)
            self._parts = []

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return entries ``start`` to ``stop``. Safe to call from several threads at once."""
        result = np.empty(stop - start, self.dtype)
        if self._file is None:
            place = 0
            for part in self._parts:
                low, high = max(start - place, 0), min(stop - place, len(part))
                if low < high:
                    result[place + low - start : place + high - start] = part[low:high]
                place += len(part)
            return result
        view, place = as_bytes(result), start * self.dtype.itemsize
        while view:
            got = os.preadv(self._file.fileno(), [view], place)
            view, place = view[got:], place + got
        return result

    def close(self) -> None:
        """Release memory and file, and become empty."""
        self._parts, self._length = [], 0
        if self._file is not None:
            self._file.close()

    def parts(self) -> Iterator[NDArray[Any]]:
        """Yield the entries in order, in parts."""
        if self._file is None:
            yield from self._parts
            return
        step = _PART // self.dtype.itemsize
        for start in range(0, self._length, step):
            yield self.read(start, min(start + step, self._length))

    def array(self) -> NDArray[Any]:
        """Return the whole array, in memory."""
        return self.read(0, self._length)
