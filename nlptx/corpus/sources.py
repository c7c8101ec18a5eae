"""Paths, folders, archives and standard input -> open byte streams with a name and a format."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from nlptx.corpus.document import SPLITS, ReadOptions
from nlptx.errors import DataError, SettingsError

STDIN = "-"
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_TABLES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


@dataclass(frozen=True)
class Source:
    """One open input.

    Args:
        name: what to call it in messages.
        stream: its bytes, decompressed.
        format: ``text`` (a document a line), ``document`` (one whole) or a table format.
        label: label given by the folder it lies in, or None.
    """

    name: str
    stream: BinaryIO
    format: str
    label: str | None = None


def open_sources(inputs: Iterable[str], options: ReadOptions) -> Iterator[Source]:
    """Open one input after the other, each closed before the next.

    Raises:
        SettingsError: a path does not exist, or standard input is closed.
        DataError: a file cannot be read, or a folder or archive holds no document.
    """
    for name in inputs:
        with _damage_reported(name):
            if name == STDIN:
                yield _standard_input(options)
            elif os.path.isdir(name):
                yield from _folder(Path(name), options)
            elif name.lower().endswith(_ARCHIVES):
                yield from _archive(name, options)
            elif not os.path.exists(name):
                raise SettingsError(f"{name}: no such file or folder")
            else:
                yield from _file(name, options)


@contextmanager
def _damage_reported(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, tarfile.TarError) as error:
        reason = f"truncated or damaged ({error})" if str(error) else "truncated or damaged"
        raise DataError(
            reason, where=name, hint="Get the file again, or check it with gzip -t, xz -t or tar -t."
        ) from error
    except PermissionError as error:
        raise DataError("permission denied", where=name) from error


def _standard_input(options: ReadOptions) -> Source:
    if sys.stdin is None or sys.stdin.closed:
        raise SettingsError("standard input is closed", hint="Give a file, or pipe text in.")
    return Source("<stdin>", sys.stdin.buffer, "text" if options.format == "auto" else options.format)


def _file(name: str, options: ReadOptions) -> Iterator[Source]:
    base, suffix = os.path.splitext(name)
    opener = _OPENERS.get(suffix.lower())
    by_name = _TABLES.get(os.path.splitext(base)[1].lower() if opener else suffix.lower(), "text")
    with (opener or open)(name, "rb") as stream:
        yield Source(name, cast(BinaryIO, stream), by_name if options.format == "auto" else options.format)


def _folder(folder: Path, options: ReadOptions) -> Iterator[Source]:
    found = False
    for path in sorted(folder.rglob("*.txt")):
        place = _place(PurePosixPath(path.relative_to(folder).as_posix()), folder.name, options)
        if place is not None and path.is_file():
            found = True
            with open(path, "rb") as stream:
                yield Source(str(path), stream, "document", place.label)
    if not found:
        raise _nothing_in(str(folder), options)


def _archive(name: str, options: ReadOptions) -> Iterator[Source]:
    """Read members in place. Nothing is unpacked, so names with ``..`` and links are harmless."""
    found = False
    if not os.path.exists(name):
        raise SettingsError(f"{name}: no such file")
    with tarfile.open(name, "r|*") as archive:
        for member in archive:
            place = _place(PurePosixPath(member.name), "", options) if member.isreg() else None
            stream = archive.extractfile(member) if place is not None else None
            if place is not None and stream is not None:
                found = True
                yield Source(f"{name}:{member.name}", cast(BinaryIO, stream), "document", place.label)
            archive.members.clear()  # type: ignore[attr-defined]  # else the list grows with the archive
    if not found:
        raise _nothing_in(name, options)


@dataclass(frozen=True)
class _Place:
    label: str | None


def _place(path: PurePosixPath, root: str, options: ReadOptions) -> _Place | None:
    """Say which label the folders of ``path`` give it; None where it is not to be read.

    The innermost folder is the label, unless it is a split or ``path`` lies at the top.
    """
    if path.suffix != ".txt" or path.name.startswith((".", "urls_")):
        return None
    folders = path.parent.parts
    inside = (root, *folders)
    split = next((part for part in reversed(inside) if part in SPLITS), None)
    if options.splits and split is not None and split not in options.splits:
        return None
    parent = folders[-1] if folders else None
    return _Place(None if parent in SPLITS else parent)


def _nothing_in(name: str, options: ReadOptions) -> DataError:
    wanted = f" in split {' or '.join(options.splits)}" if options.splits else ""
    return DataError(
        f"no .txt file here{wanted}",
        where=name,
        hint="A folder is read as one document per .txt file; name .csv, .tsv or .jsonl files themselves.",
    )
