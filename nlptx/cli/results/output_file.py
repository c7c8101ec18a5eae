"""Opens the output of a command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from nlptx.corpus.compression import compressing
from nlptx.io.atomic_write import atomic_output
from nlptx.io.output_path import STDOUT


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
