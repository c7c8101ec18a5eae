"""Opens the output of a command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Self

from nlptx.corpus.compression import compressing
from nlptx.errors import OutputError
from nlptx.io.atomic_write import atomic_output
from nlptx.io.output_path import STDOUT


class RaisedLater:
    """A block that writes files before a report is printed.

    The files are written first, because the reader of the report may close the pipe. If a file cannot be written, the
    report is printed nevertheless, so the error is kept until :meth:`raise_error`.
    """

    def __init__(self) -> None:
        self.error: OutputError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        self.error = error if isinstance(error, OutputError) else None
        return self.error is not None

    def raise_error(self) -> None:
        """Raise the error of the block, if there was one."""
        if self.error is not None:
            raise self.error


@contextmanager
def open_output(output: str) -> Iterator[BinaryIO]:
    """Open the output. A file is written atomically, and is compressed if its name ends in .gz, .bz2 or .xz.

    Args:
        output: path of the output, or ``-`` for standard output.
    """
    if output == STDOUT:
        yield sys.stdout.buffer
        return
    with atomic_output(output) as target, compressing(target, output) as file:
        yield file
