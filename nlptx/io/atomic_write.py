"""Atomic writing: a program that reads the target finds its old content or its new content, never a partial file.

The bytes are written to a temporary file in the same folder. The temporary file is flushed to disk, and then replaces
the target. Then the folder is flushed, so that the file survives a power cut.

The temporary file has a random name and is locked (flock) while the process that writes it is running. When that
process ends, even if it is killed, the system releases the lock. The next process that writes the same target therefore
recognises leftover temporary files: they are not locked. Process ids could not be used instead of locks, because
process ids are meaningless on a volume that several hosts share. NFS, Lustre, CephFS and other shared file systems
propagate locks between hosts, unless the volume is mounted with host-local locks.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import io
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from nlptx.io.lock import refers_to
from nlptx.io.output_path import STDOUT, check_writable, descriptor_of, mode_of, reporting_failures
from nlptx.io.paths import FilePath, file_name

# The name of a temporary file contains the name of its target, shortened to at most this number of bytes. A file name
# may have 255 bytes, and the dots, the random part and the suffix need the remaining bytes.
_MAX_STEM_BYTES = 220
_RANDOM = re.compile("[0-9a-f]{16}")
_CUT_SHORT = "the output is incomplete"


@contextmanager
def atomic_output(path: FilePath, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces ``path`` when the ``with`` block ends without an error.

    If ``path`` is a symbolic link, the link is kept, and the file to which it points is replaced. If there is an old
    file, the new file gets its mode; otherwise the umask determines the mode. Files that are already open (``-``,
    /dev/stdout, /dev/fd/3), pipes and devices are not replaced; the bytes are copied to them at the end. Errors raised
    by the code in the block propagate unchanged.

    Args:
        path: file to replace or create.
        durable: whether to flush the file to disk, so that it survives a power cut. Intermediate results are written
            without flushing, which is faster.

    Raises:
        OutputError: the file cannot be written or is write-protected. An old file is not changed, unless only flushing
            the folder fails after the file was replaced.
    """
    path = file_name(path)
    check_writable(path)
    mode = mode_of(path) if path != STDOUT else None
    if path == STDOUT or descriptor_of(path) is not None or (mode is not None and not stat.S_ISREG(mode)):
        with _via_copy(path) as file:
            yield file
    else:
        with _via_rename(Path(os.path.realpath(path)), mode, path, durable) as file:
            yield file


class _OutputFile(io.FileIO):
    """An open file that raises OutputError if a write fails, because an OSError could be mistaken for a failed read."""

    def __init__(self, descriptor: int, where: str) -> None:
        super().__init__(descriptor, "r+b")
        self.where = where

    def write(self, data: bytes) -> int:  # type: ignore[override]
        with reporting_failures(self.where):
            return os.write(self.fileno(), data)


@contextmanager
def _via_copy(path: str) -> Iterator[BinaryIO]:
    """Open an unnamed temporary file, and copy its content to ``path`` at the end.

    The content is not written to ``path`` directly, because a zip file must be written to a seekable file.
    """
    folder = tempfile.gettempdir()
    with reporting_failures(folder), tempfile.TemporaryFile(buffering=0) as unnamed:
        descriptor = os.dup(unnamed.fileno())
    with io.BufferedRandom(_OutputFile(descriptor, folder)) as temporary:
        yield cast(BinaryIO, temporary)
        temporary.seek(0)
        with reporting_failures(path, _CUT_SHORT):
            if path == STDOUT:
                shutil.copyfileobj(temporary, sys.stdout.buffer)
                sys.stdout.buffer.flush()
                return
            number = descriptor_of(path)
            with open(path if number is None else os.dup(number), "wb") as out:
                shutil.copyfileobj(temporary, out)


@contextmanager
def _via_rename(target: Path, mode: int | None, path: str, durable: bool) -> Iterator[BinaryIO]:
    """Open a temporary file in the folder of ``target``, and rename it to ``target`` at the end.

    Args:
        target: file to replace or create.
        mode: mode of the existing target, or None if there is none.
        path: name of the target in error messages, as given by the caller.
        durable: whether to flush the file and its folder to disk.
    """
    with reporting_failures(path):
        remove_leftovers(target)
        # If there is an old file, only the owner can read the temporary file until it receives the old file's mode.
        temporary, descriptor = _create(target, 0o666 if mode is None else 0o600)
    try:
        with io.BufferedRandom(_OutputFile(descriptor, path)) as file:
            yield cast(BinaryIO, file)
            with reporting_failures(path):
                file.flush()
                if mode is not None:
                    os.fchmod(descriptor, stat.S_IMODE(mode))
                if durable:
                    os.fsync(descriptor)
                os.replace(temporary, target)  # renamed before closing, because closing releases the lock
    finally:
        with suppress(OSError):  # after the rename, unlink fails; its error must not hide an earlier one
            temporary.unlink()
    if not durable:
        return
    with reporting_failures(path, "the new file is in place, but may not survive a power cut"):
        _sync_folder(target.parent)


def _create(target: Path, mode: int) -> tuple[Path, int]:
    """Create and lock a temporary file for ``target``, and return its path and descriptor."""
    while True:
        temporary = target.with_name(f".{stem_of(target)}.{os.urandom(8).hex()}.tmp")
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):  # some file systems have no locks; leftover files there are never removed
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Before the lock was taken, another process may have removed the file as a leftover.
        if refers_to(temporary, descriptor):
            return temporary, descriptor
        os.close(descriptor)


def remove_leftovers(target: Path) -> None:
    """Remove the unlocked temporary files of ``target``, which killed processes left behind."""
    stem = stem_of(target)
    for path in target.parent.glob(f".{glob.escape(stem)}.*.tmp"):
        if not _RANDOM.fullmatch(path.name[len(stem) + 2 : -len(".tmp")]):
            continue
        with suppress(OSError):  # the file is in use, belongs to another user, or has been removed
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


def stem_of(target: Path) -> str:
    """Return the name of ``target``, shortened so that the name of its temporary file is not too long."""
    stem = target.name
    while len(os.fsencode(stem)) > _MAX_STEM_BYTES:
        stem = stem[:-1]
    return stem


def _sync_folder(folder: Path) -> None:
    """Flush the entries of ``folder`` to disk, if the file system supports this and permissions allow it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # the folder is writable but not readable
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
