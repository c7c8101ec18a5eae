"""Lock files: only one process at a time can hold the lock on a file."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nlptx.errors import OutputError

# Error codes of file systems without locks, such as some network drives.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
# Maximum time to wait for a lock, and the time between two attempts, in seconds. If a process is killed, a worker that
# it has just forked may hold the lock for another moment.
_PATIENCE, _INTERVAL = 0.5, 0.02


@contextmanager
def locked(path: str, taken: str) -> Iterator[None]:
    """Hold a lock on the file ``path`` during the ``with`` block, and remove the file at the end.

    However the process ends, the operating system releases the lock (flock), so a leftover file blocks no other
    process. On a file system without locks, several processes can enter the block at the same time.

    Args:
        path: path of the lock file.
        taken: error message if another process holds the lock.

    Raises:
        OutputError: another process still holds the lock after half a second, or the file cannot be created.
    """
    try:
        descriptor = _open_locked(path)
    except BlockingIOError:
        raise OutputError(taken, hint="Wait until the other process has ended, or name another output.") from None
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", where=path) from error
    try:
        yield
    finally:
        with suppress(OSError):  # a leftover empty file blocks no other process
            if refers_to(path, descriptor):
                os.unlink(path)
        os.close(descriptor)


def _open_locked(path: str) -> int:
    deadline = time.monotonic() + _PATIENCE
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return descriptor
            os.close(descriptor)
            if not isinstance(error, BlockingIOError) or time.monotonic() > deadline:
                raise
            time.sleep(_INTERVAL)
            continue
        # Between opening and locking, the previous holder of the lock may have removed the file. Other processes would
        # then lock a new file with the same path, so the loop tries again if the path no longer refers to the locked
        # file.
        if refers_to(path, descriptor):
            return descriptor
        os.close(descriptor)


def refers_to(path: str | os.PathLike[str], descriptor: int) -> bool:
    """Return whether ``path`` still refers to the file that is open as ``descriptor``."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
