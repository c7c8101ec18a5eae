"""Opens files, folders, archives and standard input as byte streams with a name and a format."""

from __future__ import annotations

import io
import lzma
import os
import sys
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, cast

from nlptx.corpus.compression import is_compressed, open_by_name
from nlptx.corpus.folders import read_archive, read_folder
from nlptx.corpus.partition import Partition
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.skipped_files import OnNote
from nlptx.corpus.source import Source, input_format, is_archive
from nlptx.errors import DataError, SettingsError
from nlptx.io.truncation import open_detecting_truncation

STDIN = "-"


def open_input(
    name: str | Partition, options: ReadOptions, on_note: OnNote = lambda where, note: None
) -> Iterator[Source]:
    """Open an input, and yield one source per file. Each file is closed before the next one is opened.

    Args:
        name: path of a file, folder or archive; ``-`` for standard input; or a partition of such an input.
        options: reading options.
        on_note: called with the name of a folder or archive and a note about files in it that were not read.

    Raises:
        SettingsError: the path does not exist, or standard input is closed.
        DataError: a folder or archive contains no document.
    """
    if isinstance(name, Partition):
        yield from _partition(name, options, on_note)
    elif name == STDIN:
        yield _standard_input(options)
    elif os.path.isdir(name):
        yield from read_folder(Path(name), options, on_note)
    elif not os.path.exists(name):
        raise SettingsError(f"{name}: no such file or folder")
    elif is_archive(name):
        yield from read_archive(name, options, on_note)
    else:
        yield from _file(name, options)


@contextmanager
def damage_reported(name: str) -> Iterator[None]:
    """If a damaged or unreadable file causes an error in the ``with`` block, raise a DataError that names the input."""
    try:
        yield
    except PermissionError as error:
        raise DataError("permission denied", where=str(error.filename or name)) from error
    except (EOFError, OSError, zlib.error, lzma.LZMAError, tarfile.TarError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the error was raised by the operating system, not by the decompressor
        reason = f"truncated or damaged ({error})" if str(error) else "truncated or damaged"
        raise DataError(
            reason, where=name, hint="Get the file again, or check it with gzip -t, xz -t or tar -t."
        ) from error


def _standard_input(options: ReadOptions) -> Source:
    if sys.stdin is None or sys.stdin.closed:
        raise SettingsError("standard input is closed", hint="Pass a file, or pipe text in.")
    stream: BinaryIO = sys.stdin.buffer
    with suppress(OSError, ValueError):  # in a Python program, sys.stdin may be an object without a file descriptor
        stream = open_detecting_truncation(stream.fileno(), "<stdin>")
    if not hasattr(stream, "peek"):  # examining the first bytes needs peek(), which a replacement of sys.stdin may lack
        stream = cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream)))
    return Source("<stdin>", stream, input_format("", options))


def _partition(partition: Partition, options: ReadOptions, on_note: OnNote) -> Iterator[Source]:
    if partition.is_whole:
        for source in open_input(partition.path, options, lambda _, note: on_note(partition.name, note)):
            source.name = partition.displayed(source.name)
            yield source
        return
    with partition.open() as stream:
        continued = partition.start > 0 and not partition.header
        yield Source(
            partition.name,
            stream,
            input_format(partition.name, options),
            continued=continued,
            text_column=partition.text_column,
        )


def _file(name: str, options: ReadOptions) -> Iterator[Source]:
    with open_by_name(name) as stream:
        yield Source(name, stream, input_format(name, options), packed=is_compressed(name))
