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
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, cast

from nlptx.corpus.archive_members import read_members
from nlptx.corpus.compression import is_packed, open_by_name
from nlptx.corpus.document import SPLITS, ReadOptions
from nlptx.corpus.partition import Partition
from nlptx.errors import DataError, SettingsError
from nlptx.io.whole_file import open_whole

STDIN = "-"
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_TABLES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
# A text file whose name starts with one of these prefixes is not a document. The aclImdb corpus contains files with the
# second and the third prefix.
_NON_DOCUMENT_PREFIXES = (".", "urls_", "imdbEr.", "README.")
# Maximum number of bytes in a text or row, for uncompressed and for compressed input. The first limit is high, because
# some corpora are a single long line. The second limit is low, because a compressed file of a few kilobytes must not
# fill the memory.
_LONGEST, _LONGEST_PACKED = 1 << 30, 8 << 20


@dataclass
class Source:
    """An open stream of bytes: a file, an archive member or standard input.

    Args:
        name: name used in messages.
        stream: the decompressed bytes.
        format: ``text`` (one document per line), ``document`` (one document) or a table format.
        label: name of the folder that contains the file, or None.
        split: folder ``train``, ``test`` or ``unsup`` that contains the source; None if it is in none of them.
        packed: whether the input is compressed or an archive.
        columns: column names of a table, available after its header has been read.
        delimiter: character between the columns of a CSV table, available after its header has been read.
        continued: whether the stream starts in the middle of a file.
    """

    name: str
    stream: BinaryIO
    format: str
    label: str | None = None
    split: str | None = None
    packed: bool = False
    columns: list[str] = field(default_factory=list)
    delimiter: str = ","
    continued: bool = False

    @property
    def longest(self) -> int:
        """Maximum number of bytes in one text or row."""
        return _LONGEST_PACKED if self.packed else _LONGEST


def open_input(name: str | Partition, options: ReadOptions) -> Iterator[Source]:
    """Yield the sources of an input, each as an open stream. A source is closed before the next one is opened.

    Raises:
        SettingsError: the path does not exist, or standard input is closed.
        DataError: a folder or archive contains no document.
    """
    if isinstance(name, Partition):
        yield from _partition(name, options)
    elif name == STDIN:
        yield _standard_input(options)
    elif os.path.isdir(name):
        yield from _folder(Path(name), options)
    elif not os.path.exists(name):
        raise SettingsError(f"{name}: no such file or folder")
    elif is_archive(name):
        yield from _archive(name, options)
    else:
        yield from _file(name, options)


@contextmanager
def damage_reported(name: str) -> Iterator[None]:
    """Turn errors from damaged or unreadable files inside the ``with`` block into a DataError that names the input."""
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
        stream = open_whole(stream.fileno(), "<stdin>")
    if not hasattr(stream, "peek"):  # examining the first bytes needs peek(), which such an object may lack
        stream = cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream)))
    return Source("<stdin>", stream, input_format("", options))


def _partition(partition: Partition, options: ReadOptions) -> Iterator[Source]:
    if partition.is_whole:
        for source in open_input(partition.path, options):
            source.name = partition.shown(source.name)
            yield source
        return
    with partition.open() as stream:
        continued = partition.start > 0 and not partition.header
        yield Source(partition.name, stream, input_format(partition.name, options), continued=continued)


def is_archive(name: str) -> bool:
    """Return whether an input is an archive of documents, judging by its name."""
    return name.lower().endswith(_ARCHIVES)


def format_by_name(name: str) -> str:
    """Return the format indicated by a file name: a table format, or ``text``. A compression suffix is ignored."""
    inner = os.path.splitext(name)[0] if is_packed(name) else name
    return _TABLES.get(os.path.splitext(inner)[1].lower(), "text")


def input_format(name: str, options: ReadOptions) -> str:
    """Return the format in which a file is read. If a delimiter other than a tab is set, TSV is read as CSV."""
    format = format_by_name(name) if options.format == "auto" else options.format
    return "csv" if format == "tsv" and options.delimiter not in (None, "\t") else format


def _file(name: str, options: ReadOptions) -> Iterator[Source]:
    with open_by_name(name) as stream:
        yield Source(name, stream, input_format(name, options), packed=is_packed(name))


def _folder(folder: Path, options: ReadOptions) -> Iterator[Source]:
    found = False
    for path in sorted(_texts_in(folder)):
        location = _locate(path.relative_to(folder).as_posix(), folder.name, options)
        if location is not None and path.is_file():
            found = True
            with open_whole(str(path)) as stream:
                yield Source(str(path), stream, "document", location.label, location.split)
    if not found:
        raise _nothing_in(str(folder), options)


def _texts_in(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield the .txt files below a folder, at any depth. Links to folders are followed.

    Args:
        folder: the folder.
        above: real paths of the folders above this one. Links back to these folders are not followed.

    Raises:
        OSError: a folder cannot be listed.
    """
    real = folder.resolve()
    if real in above:
        return
    with os.scandir(folder) as entries:  # Path.rglob would silently skip a folder that cannot be listed
        for entry in entries:
            # entry.is_dir is faster than os.path.isdir, but raises an error for a link that leads to itself.
            if os.path.isdir(entry) if entry.is_symlink() else entry.is_dir():
                yield from _texts_in(folder / entry.name, (*above, real))
            elif _is_text(entry.name):
                yield folder / entry.name


def _is_text(name: str) -> bool:
    return os.path.splitext(name)[1].lower() == ".txt"


def _archive(name: str, options: ReadOptions) -> Iterator[Source]:
    """Yield the documents in an archive. Nothing is written to disk, so links and names with ``..`` are harmless."""
    found = False
    for path, stream in read_members(name, _LONGEST_PACKED + 1):
        location = _locate(path, "", options)
        if location is not None:
            found = True
            yield Source(f"{name}:{path}", stream, "document", location.label, location.split, packed=True)
    if not found:
        raise _nothing_in(name, options)


@dataclass(frozen=True)
class _Location:
    label: str | None
    split: str | None


def _locate(path: str, root: str, options: ReadOptions) -> _Location | None:
    """Return the label and the split of a file, as determined by its folders, or None if the file must not be read.

    Args:
        path: path of the file, with slashes, relative to the input.
        root: name of the folder to which ``path`` is relative, or an empty string.
        options: reading options.
    """
    folders, _, name = path.rpartition("/")
    if not _is_text(name) or name.startswith(_NON_DOCUMENT_PREFIXES):
        return None
    return _location_of(f"{root}/{folders}", options.splits)


@lru_cache
def _location_of(folders: str, splits: tuple[str, ...]) -> _Location | None:
    """Return the label and the split of the files in a folder, or None if these files must not be read.

    The name of the innermost folder is the label, unless this folder is a split or the file is at the top level.
    """
    root, *inside = folders.split("/")
    inside = [part for part in inside if part not in ("", ".")]
    split = next((part for part in reversed([root, *inside]) if part in SPLITS), None)
    if splits and split is not None and split not in splits:
        return None
    label = " ".join(inside[-1].split()) if inside else ""  # a label must not contain line breaks
    return _Location(None if label in (*SPLITS, "", "..") else label, split)


def _nothing_in(name: str, options: ReadOptions) -> DataError:
    splits = f" in split {' or '.join(options.splits)}" if options.splits else ""
    return DataError(
        f"it contains no .txt file{splits}",
        where=name,
        hint="A folder is read as one document per .txt file; pass .csv, .tsv or .jsonl files by name."
        + (" `splits=()` reads all splits." if options.splits else ""),
    )
