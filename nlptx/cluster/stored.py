"""Objects that the tasks of a cluster exchange through files, so that they do not pass through the scheduler.

A file contains a pickled list of sizes, then the parts with these sizes: the pickled object without its arrays, and
each of its arrays. The arrays are separate, so that they can be memory-mapped instead of copied. Unpickling can run
code, so other users must not have access to the folder of the exchanged files, nor to the cluster itself.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from io import BufferedReader
from mmap import ACCESS_READ, mmap
from typing import Any, Generic, TypeVar, cast

from nlptx.errors import CorruptError
from nlptx.io.atomic_write import atomic_output

T = TypeVar("T")

# A file starts with an integer of _SIZE bytes: the length of the pickled list of sizes. The arrays are aligned to
# _ALIGNMENT bytes.
_SIZE, _ALIGNMENT = 8, 64


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
            value: the object, which must be picklable.

        Raises:
            OutputError: the file cannot be written.
        """
        arrays: list[pickle.PickleBuffer] = []
        pickled = pickle.dumps(value, pickle.HIGHEST_PROTOCOL, buffer_callback=arrays.append)
        parts: list[bytes | memoryview] = [pickled, *(array.raw() for array in arrays)]
        sizes = pickle.dumps([len(part) for part in parts])
        content: list[bytes | memoryview] = [len(sizes).to_bytes(_SIZE, "little"), sizes]
        for part in parts:
            content += [bytes(-sum(map(len, content)) % _ALIGNMENT), part]
        digest = _digest_of(content)
        path = os.path.join(folder, f"{name}-{digest}")
        with atomic_output(path, durable=False) as file:
            file.writelines(content)
        return cls(path, digest)

    def read(self) -> T:
        """Return the object, whose arrays are read-only: they are mapped, not copied.

        Raises:
            CorruptError: the file is damaged or missing.
        """
        return self._load(lambda file: mmap(file.fileno(), 0, access=ACCESS_READ))

    def _load(self, read: Callable[[BufferedReader], bytes | bytearray | mmap]) -> T:
        """Return the object in the file. The function ``read`` returns the content of an open file."""
        try:
            with open(self.path, "rb") as file:
                content = memoryview(read(file))
        except (OSError, ValueError) as error:  # mapping an empty file raises a ValueError
            raise self._damaged(getattr(error, "strerror", None) or str(error)) from error
        if self not in _checked:
            if _digest_of([content]) != self.digest:
                raise self._damaged("its content has changed")
            _checked.add(self)
        return cast(T, _unpickle(content))

    def read_cached(self) -> T:
        """Return the object, and keep it in memory for the next tasks of this process."""
        return cast(T, _kept(self))

    def take(self) -> T:
        """Return the object, and remove the file. Raises CorruptError like :meth:`read`."""
        value = self._load(_copied)
        self.remove()
        return value

    def remove(self) -> None:
        """Remove the file."""
        _checked.discard(self)
        os.unlink(self.path)

    def _damaged(self, reason: str) -> CorruptError:
        return CorruptError(
            f"an intermediate result cannot be read: {reason.lower()}",
            where=self.path,
            hint="All workers must be able to access the same files at the same paths.",
        )


# Files whose digests this process has already checked.
_checked: set[Stored[Any]] = set()


def _digest_of(content: Iterable[bytes | memoryview]) -> str:
    digest = blake2b(digest_size=16)
    for part in content:
        digest.update(part)
    return digest.hexdigest()


def _unpickle(content: memoryview) -> Any:
    """Return the object that a file contains, given the content of the file; see :meth:`Stored.write`."""
    start = _SIZE + int.from_bytes(content[:_SIZE], "little")
    parts = []
    for size in pickle.loads(content[_SIZE:start]):
        start += -start % _ALIGNMENT
        parts.append(content[start : start + size])
        start += size
    return pickle.loads(parts[0], buffers=parts[1:])


def _copied(file: BufferedReader) -> bytearray:
    """Return a copy of a file's content. On NFS, removing a mapped file would not free its space."""
    content = bytearray(os.fstat(file.fileno()).st_size)
    file.readinto(content)
    return content


@lru_cache(maxsize=1)
def _kept(stored: Stored[Any]) -> Any:
    return stored._load(_copied)
