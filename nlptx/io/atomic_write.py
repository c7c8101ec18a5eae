"""Writing so that a reader finds the old file or the new one, never half of one.

The bytes go to a temporary file beside the target, which is flushed to the disk and then renamed over the target;
last the folder is flushed, so that a success once reported outlives a power cut. The temporary file has a random
name and stays locked (flock) while its writer lives, and the system drops the lock however the writer ends.
So the next one to write the same target knows litter by its free lock. Process ids would not tell: on a volume
shared between hosts they mean nothing, and locks do (NFS, Lustre, CephFS and the like pass them on, unless mounted
with locks of their own for each host).
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

from nlptx.errors import OutputError
from nlptx.io.lock import is_at

STDOUT = "-"
# Bytes. File names have at most 255; the rest is for dots, the random part and the suffix.
_LONGEST_STEM = 220
_RANDOM = re.compile("[0-9a-f]{16}")
_MOST_LINKS = 40
_UNCHANGED = "nothing was changed"
_CUT_SHORT = "what arrived there is incomplete"


def check_writable(path: str) -> None:
    """Raise OutputError if ``path`` cannot be written, before any work is done for it."""
    if path == STDOUT:
        return
    descriptor = _descriptor(path)
    if descriptor is not None:
        with _failures(path):
            if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                raise OutputError("is open for reading only", where=path)
        return
    mode = _mode(path)
    if not path or path.endswith("/") or (mode is not None and stat.S_ISDIR(mode)):
        raise OutputError(f"{'is a folder' if path else 'no name'}; expected a file name", where=path or "output")
    folder = os.path.dirname(os.path.realpath(path))
    if mode is None and not os.path.isdir(folder):
        raise OutputError("its folder does not exist", where=path, hint=f"mkdir -p {folder}")
    if mode is not None and not os.access(path, os.W_OK):
        # A rename would not ask, but whoever took the right to write away meant to keep the file.
        raise OutputError(
            "cannot be written: permission denied", where=path, hint=f"chmod u+w {path}, or name another file."
        )
    if (mode is None or stat.S_ISREG(mode)) and not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot be written: permission denied in {folder}", where=path)


@contextmanager
def atomic_output(path: str) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the place of ``path`` when the block ends without an error.

    A symbolic link stays, and the file it leads to is replaced. A replaced file keeps its mode; a new one has that
    of the umask. ``-``, open files (/dev/stdout, /dev/fd/3), pipes and devices are not replaced, but get the bytes
    at the end, in one copy. Errors that the block meets elsewhere pass through as they are.

    Raises:
        OutputError: it cannot be written, or may not be; the old file is untouched.
    """
    check_writable(path)
    mode = _mode(path) if path != STDOUT else None
    if path == STDOUT or _descriptor(path) is not None or (mode is not None and not stat.S_ISREG(mode)):
        with _spooled(path) as file:
            yield file
    else:
        with _beside(Path(os.path.realpath(path)), mode, path) as file:
            yield file


def _mode(path: str) -> int | None:
    """Return type and permissions of the file ``path`` leads to; None if there is none yet."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failure(error, path, _UNCHANGED) from error


def _descriptor(path: str) -> int | None:
    """Return the number of the open file that ``path`` stands for, as /dev/stdout does; None for any other path.

    Opened by name again, such a file would be written from its start, whatever ``>> FILE`` meant to keep.
    """
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        if folder in ("/dev/fd", f"/proc/{os.getpid()}/fd") and name.isdecimal():
            return int(name)
        try:
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))
        except OSError:
            return None  # no link, or nothing there
    return None


class _Reporting(io.FileIO):
    """An open file that raises OutputError when it cannot be written: who wrote may well have been reading too."""

    def __init__(self, descriptor: int, where: str) -> None:
        super().__init__(descriptor, "r+b")
        self.where = where

    def write(self, data: bytes) -> int:  # type: ignore[override]
        with _failures(self.where):
            return os.write(self.fileno(), data)


@contextmanager
def _spooled(path: str) -> Iterator[BinaryIO]:
    """Collect in a nameless file, as a zip file is written with steps back, which no pipe takes; then copy it out."""
    place = tempfile.gettempdir()
    with _failures(place), tempfile.TemporaryFile(buffering=0) as nameless:
        descriptor = os.dup(nameless.fileno())
    with io.BufferedRandom(_Reporting(descriptor, place)) as spilled_array:
        yield cast(BinaryIO, spilled_array)
        spilled_array.seek(0)
        with _failures(path, _CUT_SHORT):
            if path == STDOUT:
                shutil.copyfileobj(spilled_array, sys.stdout.buffer)
                sys.stdout.buffer.flush()
                return
            number = _descriptor(path)
            with open(path if number is None else os.dup(number), "wb") as out:
                shutil.copyfileobj(spilled_array, out)


@contextmanager
def _beside(target: Path, mode: int | None, path: str) -> Iterator[BinaryIO]:
    """Write beside ``target``, whose mode is ``mode`` if it exists, and take its place at the end."""
    with _failures(path):
        remove_litter(target)
        # Until it has the mode of the old file, a new one is nobody else's to read.
        temporary, descriptor = _create(target, 0o666 if mode is None else 0o600)
    try:
        with io.BufferedRandom(_Reporting(descriptor, path)) as file:
            yield cast(BinaryIO, file)
            with _failures(path):
                file.flush()
                if mode is not None:
                    os.fchmod(descriptor, stat.S_IMODE(mode))
                os.fsync(descriptor)
                os.replace(temporary, target)  # before the file is closed, and with it unlocked
    finally:
        with suppress(OSError):  # it has been renamed; or what failed before has been told, and this is the lesser part
            temporary.unlink()
    with _failures(path, "the new file is there, but may not outlive a power cut"):
        _sync_folder(target.parent)


def _create(target: Path, mode: int) -> tuple[Path, int]:
    """Create and lock a temporary file for ``target``; return its path and descriptor."""
    while True:
        temporary = target.with_name(f".{stem_of(target)}.{os.urandom(8).hex()}.tmp")
        descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):  # without locks on this file system, nobody else can take it for litter either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # In the moment before it was locked, somebody who looked for litter may have removed it.
        if is_at(temporary, descriptor):
            return temporary, descriptor
        os.close(descriptor)


def remove_litter(target: Path) -> None:
    """Remove the temporary files for ``target`` that nobody holds locked: their writers were killed."""
    stem = stem_of(target)
    for path in target.parent.glob(f".{glob.escape(stem)}.*.tmp"):
        if not _RANDOM.fullmatch(path.name[len(stem) + 2 : -len(".tmp")]):
            continue
        with suppress(OSError):  # somebody is writing it, or it is somebody else's, or gone by now
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


def stem_of(target: Path) -> str:
    """Return the name of ``target``, cut where the longer temporary name would be more than a file system takes."""
    stem = target.name
    while len(os.fsencode(stem)) > _LONGEST_STEM:
        stem = stem[:-1]
    return stem


def _sync_folder(folder: Path) -> None:
    """Flush the names in ``folder`` to the disk, where the file system can and the user may."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return  # a folder that may be written but not read
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


@contextmanager
def _failures(where: str, left: str = _UNCHANGED) -> Iterator[None]:
    """Turn failures of the system into OutputError; a reader that has gone away is not one."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failure(error, where, left) from error


def _failure(error: OSError, where: str, left: str) -> OutputError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OutputError(f"the disk is full; {left}", where=where)
    return OutputError(f"cannot be written: {error.strerror or error}; {left}", where=where)
