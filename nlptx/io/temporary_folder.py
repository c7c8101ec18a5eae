"""Temporary folders, which may be on shared storage.

If the process that made a folder was killed, a later command removes the folder.

A folder contains a locked file (flock) while the process runs. However the process ends, the system releases the lock,
so the next command recognises a leftover folder: the file in it is not locked. See :mod:`nlptx.io.atomic_write` about
file systems that are shared by several hosts.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from nlptx.errors import OutputError

_PREFIX, _LOCK = ".nlptx-", "lock"
# Maximum number of seconds for removing a folder.
_REMOVAL_TIME = 10


@contextmanager
def temporary_folder(parent: str, hint: str) -> Iterator[str]:
    """Create a folder in ``parent``, and delete it with its contents at the end of the ``with`` block.

    Folders that killed processes have left in ``parent`` are removed first.

    Args:
        parent: existing folder.
        hint: advice for the user if the folder cannot be made.

    Raises:
        OutputError: the folder cannot be made.
    """
    _remove_leftovers(parent)
    try:
        folder, descriptor = _make(parent)
    except OSError as error:
        raise OutputError(
            f"the folder for intermediate results cannot be created: {error.strerror}",
            where=parent,
            hint=hint,
        ) from error
    try:
        yield folder
    finally:
        os.close(descriptor)
        _remove(folder)


def _make(parent: str) -> tuple[str, int]:
    """Make a folder with a locked file in it. Return the folder and the descriptor of the file."""
    folder = tempfile.mkdtemp(prefix=_PREFIX, dir=parent)
    try:
        return folder, _lock(folder)
    except OSError:
        _remove(folder)
        raise


def _lock(folder: str) -> int:
    """Make a locked file in the folder, and return its descriptor, which holds the lock until it is closed."""
    unlocked, path = os.path.join(folder, f"{_LOCK}.new"), os.path.join(folder, _LOCK)
    descriptor = os.open(unlocked, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with suppress(OSError):  # some file systems have no locks; leftover folders there are never removed
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.rename(unlocked, path)  # renamed after locking, so that no process finds an unlocked file with this name
    return descriptor


def _remove_leftovers(parent: str) -> None:
    """Remove the temporary folders of this user in ``parent`` that are no longer locked."""
    for path in Path(parent).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError):  # the folder is in use, or has just been removed
            if path.parent.lstat().st_uid != os.getuid():
                continue
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path.parent, ignore_errors=True)
            finally:
                os.close(descriptor)


def _remove(folder: str) -> None:
    """Remove a folder. Retry for a few seconds: workers may still write results of a cancelled task to the folder."""
    deadline = time.monotonic() + _REMOVAL_TIME
    while os.path.isdir(folder) and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.01)
