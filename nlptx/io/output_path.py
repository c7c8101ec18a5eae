"""Checks the path of an output: what kind of file it refers to, and whether the file can be written."""

from __future__ import annotations

import errno
import fcntl
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from nlptx.errors import OutputError
from nlptx.io.paths import FilePath, file_name

STDOUT = "-"
# Maximum number of symbolic links to follow.
_MAX_LINKS = 40
_MAX_DIGITS = 9  # of a file descriptor
_UNCHANGED = "nothing was changed"


def check_writable(path: FilePath) -> None:
    """Raise OutputError if ``path`` cannot be written. Call this function before any other work is done."""
    path = file_name(path)
    if path == STDOUT:
        return
    if not os.path.isabs(path):
        _check_working_folder(path)
    descriptor = descriptor_of(path)
    if descriptor is not None:
        with reporting_failures(path):
            if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
                raise OutputError("is open for reading only", where=path)
        return
    mode = mode_of(path)
    if not path or path.endswith("/") or (mode is not None and stat.S_ISDIR(mode)):
        raise OutputError(f"{'is a folder' if path else 'has no name'}; expected a file name", where=path or "output")
    folder = os.path.dirname(os.path.realpath(path))
    if mode is None and not os.path.isdir(folder):
        above = folder
        while not os.path.exists(above):
            above = os.path.dirname(above)
        if not os.path.isdir(above):
            raise OutputError(f"{above} is a file, not a folder", where=path, hint="Choose another folder.")
        raise OutputError("its folder does not exist", where=path, hint=f"mkdir -p {shlex.quote(folder)}")
    if mode is not None and not os.access(path, os.W_OK):
        # Renaming a new file to this path would succeed, but a file without write permission should not be replaced.
        raise OutputError(
            "cannot be written: permission denied",
            where=path,
            hint=f"Run chmod u+w {shlex.quote(path)} or name another file.",
        )
    if (mode is None or stat.S_ISREG(mode)) and not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"cannot be written: the folder {folder} is not writable", where=path)


def _check_working_folder(path: str) -> None:
    """Raise OutputError if the working folder, to which ``path`` is relative, was deleted."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise OutputError(
            "cannot be written: the working folder was deleted",
            where=path or "output",
            hint="Change to a folder that exists.",
        ) from None


def mode_of(path: str) -> int | None:
    """Return the mode of the file that ``path`` refers to, or None if there is no such file."""
    try:
        return os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _failure(error, path, _UNCHANGED) from error


def descriptor_of(path: str) -> int | None:
    """Return the file descriptor that a path such as /dev/stdout refers to, or None for any other path.

    Opening /dev/stdout by its name would overwrite the redirected file from its start, even if the shell opened the
    file with ``>> FILE`` to append to it.
    """
    for _ in range(_MAX_LINKS):
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        if folder in ("/dev/fd", f"/proc/{os.getpid()}/fd") and name.isdecimal() and len(name) <= _MAX_DIGITS:
            return int(name)
        try:
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))
        except OSError:
            return None  # not a link, or missing
    return None


@contextmanager
def reporting_failures(where: str, state: str = _UNCHANGED) -> Iterator[None]:
    """Report system errors in the ``with`` block as OutputError.

    A BrokenPipeError propagates unchanged; it means that the reader of the output has closed the pipe.

    Args:
        where: name of the file in the message.
        state: clause that describes the state of the output after the error, for the message.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _failure(error, where, state) from error


def _failure(error: OSError, where: str, state: str) -> OutputError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OutputError(f"the disk is full; {state}", where=where)
    return OutputError(f"cannot be written: {error.strerror or error}; {state}", where=where)
