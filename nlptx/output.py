"""Writing so that a reader finds the old file or the new one, never half of one."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from nlptx.errors import OutputError

STDOUT = "-"
# Bytes. File names have at most 255; the rest is for dots, process id and suffix.
_LONGEST_STEM = 220


def check_writable(path: str) -> None:
    """Raise OutputError if ``path`` cannot be written, before any work is done for it."""
    if path == STDOUT:
        return
    folder = Path(os.path.realpath(path)).parent
    if os.path.isdir(path):
        raise OutputError("is a folder; expected a file name", where=path)
    if not _is_stream(path) and not folder.is_dir():
        raise OutputError("its folder does not exist", where=path, hint=f"mkdir -p {folder}")
    if not os.access(path if _is_stream(path) else folder, os.W_OK):
        raise OutputError("cannot be written: permission denied", where=path)


def _is_stream(path: str) -> bool:
    """Tell standard output, pipes and devices, which cannot be replaced, from files."""
    return path == STDOUT or (os.path.exists(path) and not os.path.isfile(path))


@contextmanager
def atomic_output(path: str) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the place of ``path`` when the block ends without an error.

    ``-`` and files that are not regular (pipes, devices) get the bytes at the end, in one copy.

    Raises:
        OutputError: it cannot be written; the old file is untouched.
    """
    check_writable(path)
    try:
        if _is_stream(path):
            with tempfile.TemporaryFile() as spool:
                yield cast(BinaryIO, spool)
                spool.seek(0)
                if path == STDOUT:
                    shutil.copyfileobj(spool, sys.stdout.buffer)
                    sys.stdout.buffer.flush()
                else:
                    with open(path, "wb") as out:  # by its own name: /dev/fd/1 leads to a pipe that has none
                        shutil.copyfileobj(spool, out)
        else:
            with _beside(Path(os.path.realpath(path))) as file:
                yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OutputError("the disk is full; nothing was changed", where=path) from error
        raise OutputError(f"cannot be written: {error.strerror or error}", where=path) from error


@contextmanager
def _beside(target: Path) -> Iterator[BinaryIO]:
    _remove_litter(target)
    temporary = target.with_name(f".{_stem(target)}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def _stem(target: Path) -> str:
    """Return the name of ``target``, cut where the longer temporary name would be more than a file system takes."""
    stem = target.name
    while len(os.fsencode(stem)) > _LONGEST_STEM:
        stem = stem[:-1]
    return stem


def _remove_litter(target: Path) -> None:
    """Remove the temporary files of processes that were killed while writing ``target``."""
    for path in target.parent.glob(f".{glob.escape(_stem(target))}.*.tmp"):
        owner = path.name.removesuffix(".tmp").rpartition(".")[2]
        if owner.isdigit() and not _is_running(int(owner)):
            with suppress(OSError):
                path.unlink()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
