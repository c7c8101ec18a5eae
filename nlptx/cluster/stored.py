"""Objects that the tasks of a cluster exchange through files, so that they do not pass through the scheduler.

The files are read by pickle, which can run code. Therefore, the folder must be private, like the cluster itself.
"""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Generic, TypeVar, cast

from nlptx.errors import CorruptError
from nlptx.io.atomic_write import atomic_output

T = TypeVar("T")


@dataclass(frozen=True)
class Stored(Generic[T]):
    """An object in a file. Only the file name and the digest go through the scheduler.

    Args:
        path: absolute path of the file.
        digest: BLAKE2 digest of the content.
    """

    path: str
    digest: str

    @classmethod
    def write(cls, folder: str, name: str, value: T) -> Stored[T]:
        """Write an object. The file name contains the digest of the content, so a task may safely run twice.

        Args:
            folder: folder that all workers can access.
            name: first part of the file name.
            value: the object, which pickle must be able to write.

        Raises:
            OutputError: the file cannot be written.
        """
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        digest = blake2b(data, digest_size=16).hexdigest()
        path = os.path.join(folder, f"{name}-{digest}")
        with atomic_output(path, durable=False) as file:
            file.write(data)
        return cls(path, digest)

    def read(self) -> T:
        """Return the object. Raise CorruptError if the file is damaged or missing."""
        try:
            with open(self.path, "rb") as file:
                data = file.read()
        except OSError as error:
            raise self._damaged(error.strerror or str(error)) from error
        if blake2b(data, digest_size=16).hexdigest() != self.digest:
            raise self._damaged("its content has changed")
        return cast(T, pickle.loads(data))

    def read_once(self) -> T:
        """Return the object, which is kept in memory for the next tasks of this process."""
        return cast(T, _kept(self))

    def take(self) -> T:
        """Return the object, and remove the file."""
        value = self.read()
        self.remove()
        return value

    def remove(self) -> None:
        """Remove the file."""
        os.unlink(self.path)

    def _damaged(self, reason: str) -> CorruptError:
        return CorruptError(
            f"an intermediate result cannot be read: {reason.lower()}",
            where=self.path,
            hint="All workers must be able to access the same files at the same paths.",
        )


@lru_cache(maxsize=1)
def _kept(stored: Stored[Any]) -> Any:
    return stored.read()
