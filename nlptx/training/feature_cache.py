"""Stores n-gram features in a folder, so that several training runs can use them.

Training runs with the same texts, labels, seed and n-gram settings have the same n-gram features. On short texts,
computing n-gram features takes more than half of the training time.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from nlptx.io.paths import FilePath

T = TypeVar("T")
# Maximum size of all files, in bytes.
_MAX_BYTES = 1 << 30


class FeatureCache:
    """Stores results in files, which several processes may use at the same time.

    The files are read by pickle, which can run code, so the folder must be private and contain no other files.

    Args:
        folder: existing folder; None to store nothing.
        max_bytes: maximum size of all files; if it is exceeded, the least recently used files are removed.
    """

    def __init__(self, folder: FilePath | None = None, max_bytes: int = _MAX_BYTES) -> None:
        self.folder = None if folder is None else Path(folder)
        self.max_bytes = max_bytes

    def get(self, inputs: Any, make: Callable[[], T]) -> T:
        """Return the result that was stored for equal inputs; if there is none, compute it with ``make`` and store it.

        Args:
            inputs: everything that determines the result; must be picklable.
            make: function that computes the result.
        """
        if self.folder is None:
            return make()
        path = self.folder / blake2b(pickle.dumps(inputs), digest_size=16).hexdigest()
        # If the file does not exist, or another process has just removed it, the result is computed.
        with suppress(OSError), open(path, "rb") as file:
            _mark_as_used(path)
            return pickle.load(file)
        result = make()
        with suppress(OSError):  # the disk may be full
            self._keep(path, result)
        return result

    def _keep(self, path: Path, result: Any) -> None:
        # The file gets its final name only when it is complete, so that no other process reads an incomplete file.
        part = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            part.write_bytes(pickle.dumps(result, pickle.HIGHEST_PROTOCOL))
            _mark_as_used(part)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        files = sorted(((file.stat(), file) for file in path.parent.iterdir()), key=lambda entry: -entry[0].st_mtime_ns)
        total = 0
        for stat, file in files:
            total += stat.st_size
            if total > self.max_bytes:
                file.unlink(missing_ok=True)


def _mark_as_used(path: Path) -> None:
    now = time.time_ns()  # by default, os.utime may use a less precise clock
    os.utime(path, ns=(now, now))
