"""Paths, folders, archives and standard input -> open byte streams with a name and a format."""

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
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, NoReturn, Self, cast

from nlptx.corpus.compression import is_packed, open_by_content, open_by_name
from nlptx.corpus.document import SPLITS, ReadOptions
from nlptx.errors import DataError, SettingsError
from nlptx.io.whole_file import open_whole

STDIN = "-"
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_TABLES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
# Text files that corpora (aclImdb above all) lay beside their documents.
_NO_DOCUMENTS = (".", "urls_", "imdbEr.", "README.")
_BLOCK = 1 << 20
# Bytes of one text or row. A whole corpus may come as one line, as some do; but a compressed file of some
# kilobytes must not take all memory.
_LONGEST, _LONGEST_PACKED = 1 << 30, 8 << 20
# Of what an archive says about one member: long names, times, rights.
_LONGEST_MEMBER_HEADER = 1 << 18


@dataclass(frozen=True)
class Source:
    """One open input.

    Args:
        name: what to call it in messages.
        stream: its bytes, decompressed.
        format: ``text`` (a document a line), ``document`` (one whole) or a table format.
        label: label given by the folder it lies in, or None.
        split: part of a corpus laid out as ``train/ test/ unsup/`` that it lies in, or None.
        packed: whether the stream is decompressed, or comes out of an archive.
        columns: of a table, once its header has been read.
    """

    name: str
    stream: BinaryIO
    format: str
    label: str | None = None
    split: str | None = None
    packed: bool = False
    columns: list[str] = field(default_factory=list)

    @property
    def longest(self) -> int:
        """Most bytes of one text or row."""
        return _LONGEST_PACKED if self.packed else _LONGEST


def open_input(name: str, options: ReadOptions) -> Iterator[Source]:
    """Open what an input holds, one source after the other, each closed before the next.

    Raises:
        SettingsError: the path does not exist, or standard input is closed.
        DataError: a folder or archive holds no document.
    """
    if name == STDIN:
        yield _standard_input(options)
    elif os.path.isdir(name):
        yield from _folder(Path(name), options)
    elif not os.path.exists(name):
        raise SettingsError(f"{name}: no such file or folder")
    elif name.lower().endswith(_ARCHIVES):
        yield from _archive(name, options)
    else:
        yield from _file(name, options)


@contextmanager
def damage_reported(name: str) -> Iterator[None]:
    """Raise DataError, naming the input, for what the block meets of damage and of files it may not read."""
    try:
        yield
    except PermissionError as error:
        raise DataError("permission denied", where=str(error.filename or name)) from error
    except (EOFError, OSError, zlib.error, lzma.LZMAError, tarfile.TarError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the system's, not the decompressor's
        reason = f"truncated or damaged ({error})" if str(error) else "truncated or damaged"
        raise DataError(
            reason, where=name, hint="Get the file again, or check it with gzip -t, xz -t or tar -t."
        ) from error


def _standard_input(options: ReadOptions) -> Source:
    if sys.stdin is None or sys.stdin.closed:
        raise SettingsError("standard input is closed", hint="Give a file, or pipe text in.")
    stream: BinaryIO = sys.stdin.buffer
    with suppress(OSError, ValueError):  # what a program may have put there is no file
        stream = open_whole(stream.fileno(), "<stdin>")
    if not hasattr(stream, "peek"):  # where a program has put something else in its place
        stream = cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, stream)))
    return Source("<stdin>", stream, "text" if options.format == "auto" else options.format)


def _file(name: str, options: ReadOptions) -> Iterator[Source]:
    packed = is_packed(name)
    inner = os.path.splitext(name)[0] if packed else name
    by_name = _TABLES.get(os.path.splitext(inner)[1].lower(), "text")
    with open_by_name(name) as stream:
        yield Source(name, stream, by_name if options.format == "auto" else options.format, packed=packed)


def _folder(folder: Path, options: ReadOptions) -> Iterator[Source]:
    found = False
    for path in sorted(_texts_in(folder)):
        place = _place(PurePosixPath(path.relative_to(folder).as_posix()), folder.name, options)
        if place is not None and path.is_file():
            found = True
            with open_whole(str(path)) as stream:
                yield Source(str(path), stream, "document", place.label, place.split)
    if not found:
        raise _nothing_in(str(folder), options)


def _texts_in(folder: Path) -> Iterator[Path]:
    """Yield the .txt files below a folder. Raises OSError for one that cannot be listed, where rglob would pass on."""

    def refuse(error: OSError) -> NoReturn:
        raise error

    for parent, _, names in os.walk(folder, onerror=refuse):
        yield from (Path(parent, name) for name in names if name.endswith(".txt"))


# Members that tell of the one behind them: its long name, and whatever pax headers hold.
_ABOUT_THE_NEXT = (
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
)


class _Member(tarfile.TarInfo):
    """A member whose damage is an error: tarfile takes a bad header after the first for the archive's end."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except (tarfile.EmptyHeaderError, tarfile.EOFHeaderError):  # type: ignore[attr-defined]
            raise  # the end
        except (tarfile.HeaderError, ArithmeticError, LookupError, RecursionError, ValueError) as error:
            raise tarfile.ReadError(str(error)) from error

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        """Read on, after a header; what it announces is read into memory, so it is not taken at its word."""
        if self.type in _ABOUT_THE_NEXT and self.size > _LONGEST_MEMBER_HEADER:
            raise tarfile.ReadError(f"{self.size} bytes about a member")
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("a file with holes")
        return super()._proc_member(archive)  # type: ignore[misc]

    def _proc_gnusparse_10(self, *arguments: object) -> None:
        raise tarfile.ReadError("a file with holes")


def _archive(name: str, options: ReadOptions) -> Iterator[Source]:
    """Read members in place. Nothing is unpacked, so names with ``..`` and links are harmless."""
    found = False
    with open_by_content(name) as file, tarfile.open(fileobj=file, mode="r|", tarinfo=_Member) as archive:
        for member in archive:
            place = _place(PurePosixPath(member.name), "", options) if member.isreg() else None
            stream = archive.extractfile(member) if place is not None else None
            if place is not None and stream is not None:
                found = True
                where = f"{name}:{member.name}"
                yield Source(where, cast(BinaryIO, stream), "document", place.label, place.split, packed=True)
            # Else these grow with the archive.
            archive.members.clear()  # type: ignore[attr-defined]
            archive.pax_headers.clear()  # type: ignore[attr-defined]
            _pass_over(archive)
        # On to the very end: there the checksum of the compressed data is, and damage or a second archive may be.
        while rest := archive.fileobj.read(_BLOCK):
            if rest.strip(b"\0"):
                raise tarfile.ReadError("data after its end")
    if not found:
        raise _nothing_in(name, options)


def _pass_over(archive: tarfile.TarFile) -> None:
    """Read to the last byte before the next header; tarfile itself goes on for as long as a member claims to be."""
    stream: Any = archive.fileobj
    while (left := archive.offset - 1 - stream.tell()) > 0:
        if not stream.read(min(left, _BLOCK)):
            raise tarfile.ReadError("unexpected end of data")


@dataclass(frozen=True)
class _Place:
    label: str | None
    split: str | None


def _place(path: PurePosixPath, root: str, options: ReadOptions) -> _Place | None:
    """Say which label the folders of ``path`` give it; None where it is not to be read.

    The innermost folder is the label, unless it is a split or ``path`` lies at the top.
    """
    if path.suffix != ".txt" or path.name.startswith(_NO_DOCUMENTS):
        return None
    inside = (root, *path.parent.parts)
    split = next((part for part in reversed(inside) if part in SPLITS), None)
    if options.splits and split is not None and split not in options.splits:
        return None
    parent = " ".join(path.parent.name.split())  # empty at the top; no line break may enter a label
    return _Place(None if parent in (*SPLITS, "", "..") else parent, split)


def _nothing_in(name: str, options: ReadOptions) -> DataError:
    wanted = f" in split {' or '.join(options.splits)}" if options.splits else ""
    return DataError(
        f"no .txt file here{wanted}",
        where=name,
        hint="A folder is read as one document per .txt file; name .csv, .tsv or .jsonl files themselves."
        + (" `splits=()` reads every part." if options.splits else ""),
    )
