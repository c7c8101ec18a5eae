"""Writing so that a reader finds the old file or the new one, never half of one."""

from __future__ import annotations

import errno
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


def check_writable(path: str) -> None:
    """Raise OutputError if ``path`` cannot be written, before any work is done for it."""
    if path == STDOUT:
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise OutputError("is a folder; expected a file name", where=path)
    if not target.parent.is_dir():
        raise OutputError("its folder does not exist", where=path, hint=f"mkdir -p {target.parent}")
    if not os.access(target if target.exists() and not target.is_file() else target.parent, os.W_OK):
        raise OutputError("cannot be written: permission denied", where=path)


@contextmanager
def atomic_output(path: str) -> Iterator[BinaryIO]:
    """Open a temporary file that takes the place of ``path`` when the block ends without an error.

    ``-`` and files that are not regular (pipes, devices) get the bytes at the end, in one copy.

    Raises:
        OutputError: it cannot be written; the old file is untouched.
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    try:
        if path == STDOUT or (target.exists() and not target.is_file()):
            with tempfile.TemporaryFile() as spool:
                yield cast(BinaryIO, spool)
                spool.seek(0)
                if path == STDOUT:
                    shutil.copyfileobj(spool, sys.stdout.buffer)
                    sys.stdout.buffer.flush()
                else:
                    with open(target, "wb") as out:
                        shutil.copyfileobj(spool, out)
        else:
            with _beside(target) as file:
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
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
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


def _remove_litter(target: Path) -> None:
    """Remove the temporary files of processes that were killed while writing ``target``."""
    for path in target.parent.glob(f".{target.name}.*.tmp"):
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
