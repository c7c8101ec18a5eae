"""Handles standard streams that are closed, full, or unable to encode a character."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import sys

from nlptx.cli.terminal.charts import as_ascii

# Operating-system error codes for a device that can no longer be written to.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
# Name of the codec error handler that replaces characters that a stream cannot encode.
_REPLACE = "nlptx.replace"


def repair_streams() -> bool:
    """Replace closed output streams, and configure the output streams to replace characters that cannot be encoded.

    If standard input is closed, ``sys.stdin`` remains None.

    Returns:
        Whether standard output was closed.
    """
    closed = sys.stdout is None
    if sys.stdin is None:
        # This file takes the free descriptor 0, which the next file to be opened would otherwise get.
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = open(os.open(os.devnull, os.O_RDONLY), "w")  # noqa: SIM115  # read-only, so that writing fails
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        getattr(sys, name).reconfigure(errors=_REPLACE)
    return closed


def _replacement(error: UnicodeError) -> tuple[str, int]:
    """Replace each character that a stream cannot encode, and return the position at which encoding continues."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(as_ascii, error.object[error.start : error.end])), error.end


codecs.register_error(_REPLACE, _replacement)


def name_of_cause(error: OSError, closed: bool) -> str | None:
    """Return a description of the file or stream that caused a system error, or None if it is unknown.

    Args:
        error: error raised by the system.
        closed: whether standard output was closed at the start.
    """
    if error.filename:
        return os.fsdecode(error.filename)
    # The error has no file name, so it comes from a standard stream, or the working folder was deleted.
    if error.errno in _FULL or (closed and error.errno == errno.EBADF):
        return "standard output"
    if error.errno == errno.ENOENT:
        try:
            os.getcwd()
        except FileNotFoundError:
            return "the working folder"
    return None


def drop_stdout() -> None:
    """Redirect standard output to the null device, so that the interpreter can flush it without an error on exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
