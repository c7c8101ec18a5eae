"""Opens files so that an error is raised if they are truncated while being read."""

from __future__ import annotations

import io
import os
import stat
from typing import Any

from nlptx.errors import DataError

_BUFFER = 1 << 17


def open_detecting_truncation(file: str | int, name: str | None = None) -> io.BufferedReader:
    """Open a file for reading. Reading raises DataError if a regular file is truncated while it is being read.

    Args:
        file: path, or a file descriptor. A descriptor is not closed.
        name: name of the file in messages; by default its path.
    """
    return io.BufferedReader(_FileOfKnownSize(file, str(file) if name is None else name), _BUFFER)


class _FileOfKnownSize(io.FileIO):
    """A file that is open for reading, with the size that it had when it was opened.

    If the file grows, the added data is read too. Because some file systems do not report true sizes, a file is
    considered truncated only if its reported size has decreased.
    """

    def __init__(self, file: str | int, name: str) -> None:
        super().__init__(file, "rb", closefd=not isinstance(file, int))
        self._name_in_messages = name
        status = os.fstat(self.fileno())
        self._size = status.st_size if stat.S_ISREG(status.st_mode) else 0

    def readinto(self, buffer: Any) -> int | None:
        count = super().readinto(buffer)
        if count == 0 and len(buffer):
            self._check_end()
        return count

    def readall(self) -> bytes:
        data = super().readall()
        self._check_end()
        return data

    def _check_end(self) -> None:
        """Raise DataError if the file is shorter than it was when it was opened."""
        if not self._size:
            return
        end, size = self.tell(), os.fstat(self.fileno()).st_size
        if end < self._size and size < self._size:
            raise DataError(
                f"the file was cut short while it was read: it had {self._size:,} bytes, and now has {size:,}",
                where=self._name_in_messages,
                hint="Read it again once no program is writing to it.",
            )
