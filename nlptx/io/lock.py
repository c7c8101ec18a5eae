"""One process at a time."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nlptx.errors import OutputError

# What a file system without locks answers, such as some network drives.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)


@contextmanager
def locked(path: str, taken: str) -> Iterator[None]:
    """Hold the lock file ``path`` for the length of a block, and remove it then.

    The lock is the system's (flock), which lets it go when the process ends, however it ends; a file that was left
    behind holds nobody up. Where the file system knows no locks, there is none.

    Args:
        path: of the lock file.
        taken: what to say where another process has it.

    Raises:
        OutputError: another process holds it, or the file cannot be made.
    """
    try:
        descriptor = _open_locked(path)
    except BlockingIOError:
        raise OutputError(taken, hint="Wait until it has ended, or name another output.") from None
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", where=path) from error
    try:
        yield
    finally:
        with suppress(OSError):  # an empty file that cannot be removed holds nobody up
            if is_at(path, descriptor):
                os.unlink(path)
        os.close(descriptor)


def _open_locked(path: str) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return descriptor
            os.close(descriptor)
            raise
        # Between opening and locking, the one before may have removed the file: then others cannot see this lock.
        if is_at(path, descriptor):
            return descriptor
        os.close(descriptor)


def is_at(path: str | os.PathLike[str], descriptor: int) -> bool:
    """Tell whether ``path`` leads to the file open as ``descriptor``, and not to another or to none."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
