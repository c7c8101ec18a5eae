"""Reads folders and archives, in which every .txt file is one document.

Files whose names are numbers are documents too, because the documents of the 20 Newsgroups corpus have such names.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from nlptx.corpus.archive_members import read_members
from nlptx.corpus.compression import is_compressed
from nlptx.corpus.document import normalize_label
from nlptx.corpus.read_options import SPLITS, ReadOptions
from nlptx.corpus.source import MAX_PACKED_BYTES, Source, format_by_name, is_archive
from nlptx.errors import DataError
from nlptx.io.truncation import open_detecting_truncation

# A function that is called with the name of an input and a note about it.
OnNote = Callable[[str, str], None]

# Name of a folder, in lower case -> name of the split. No command selects "valid" by default, and ``--split`` does not
# accept this name, so that validation texts are never used for training or testing by accident.
_SPLIT_NAMES = dict(zip(SPLITS, SPLITS, strict=True)) | {"training": "train", "testing": "test"}
_SPLIT_NAMES |= dict.fromkeys(("val", "valid", "validation", "dev"), "valid")

# Prefixes of the names of text files that are not documents, such as hidden files and the lists of web addresses in the
# aclImdb corpus (urls_pos.txt).
_NON_DOCUMENT_PREFIXES = (".", "urls_", "imdbEr.", "README.")
# Size in bytes from which on an archive is read in the background, and total size of the members of a batch.
_MIN_ARCHIVE_BYTES, _BATCH_BYTES = 1 << 20, 1 << 20


def read_folder(folder: Path, options: ReadOptions, on_note: OnNote) -> Iterator[Source]:
    """Yield the documents in a folder. For the arguments, see :func:`nlptx.corpus.opening.open_input`."""
    has_documents, skipped = False, _Skipped(folder.name, options)
    for path in sorted(_files_in(folder)):
        name = path.relative_to(folder).as_posix()
        location = _locate(name, folder.name, options)
        if location is not None and path.is_file():
            has_documents = True
            with open_detecting_truncation(str(path)) as stream:
                yield Source(str(path), stream, "document", location.label, location.split)
        else:
            skipped.add(name)
    if not has_documents:
        raise skipped.nothing_in(str(folder))
    skipped.report(str(folder), on_note)


def _files_in(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield the files below a folder, at any depth. Links to folders are followed.

    Args:
        folder: the folder.
        above: real paths of the folders above ``folder``; links back to them are not followed.

    Raises:
        OSError: a folder cannot be listed.
    """
    real = folder.resolve()
    if real in above:
        return
    with os.scandir(folder) as entries:  # Path.rglob would silently skip a folder that cannot be listed
        for entry in entries:
            # entry.is_dir is faster than os.path.isdir, but raises an error for a symbolic link to itself.
            if os.path.isdir(entry) if entry.is_symlink() else entry.is_dir():
                yield from _files_in(folder / entry.name, (*above, real))
            else:
                yield folder / entry.name


def is_document_name(name: str) -> bool:
    """Return whether a file with this name in a folder or an archive is read as a document."""
    return os.path.splitext(name)[1].lower() == ".txt" or (name.isascii() and name.isdigit())


def read_archive(name: str, options: ReadOptions, on_note: OnNote) -> Iterator[Source]:
    """Yield the documents in an archive. Nothing is written to disk, so links and names with ``..`` are harmless.

    For the arguments, see :func:`nlptx.corpus.opening.open_input`.
    """
    has_documents, skipped = False, _Skipped("", options)
    for path, location, contents in _members(name, options):
        if location is None:
            skipped.add(path)
        elif contents is None:
            skipped.add_link(path)
        else:
            has_documents = True
            stream = io.BufferedReader(cast(Any, io.BytesIO(contents)))
            yield Source(f"{name}:{path}", stream, "document", location.label, location.split, packed=True)
    if not has_documents:
        raise skipped.nothing_in(name)
    skipped.report(name, on_note)


def _members(name: str, options: ReadOptions) -> Iterator[_Member]:
    """Yield the members of an archive. A large archive is decompressed in another process, which saves time."""

    def members() -> Iterator[_Member]:
        for path, contents in read_members(name, MAX_PACKED_BYTES + 1):
            location = _locate(path, "", options)
            yield path, location, contents if location else None

    # Another process could not open a file that has only a descriptor in this process.
    is_descriptor = os.path.islink(name) and os.readlink(name).startswith(("/dev/", "/proc/"))
    if is_descriptor or os.path.getsize(name) < _MIN_ARCHIVE_BYTES:
        yield from members()
        return
    from nlptx.runtime.background import in_background  # slow to import

    yield from in_background(members, _bytes_of, _BATCH_BYTES)


def _bytes_of(member: _Member) -> int:
    """Return the approximate size of an archive member in bytes."""
    path, _, contents = member
    return len(path) + len(contents or b"")


class _Skipped:
    """Collects files, such as tables, that were not read although the user may expect them to be read."""

    def __init__(self, root: str, options: ReadOptions) -> None:
        self._root, self._options = root, options
        self._files: list[str] = []
        self._links: list[str] = []
        self._in_other_splits = 0
        # Files that were not read because a folder above them, such as val/, is treated as a split whose name ("valid")
        # differs from that of the folder. The user may not expect this.
        self._in_renamed_splits: list[str] = []

    def add(self, path: str) -> None:
        """Add a file that was not read; ``path`` is relative to the folder or archive."""
        folders, _, name = path.rpartition("/")
        if name.startswith(_NON_DOCUMENT_PREFIXES):
            return
        above = f"{self._root}/{folders}"
        location = _location_of(above)
        if not _is_selected(location, self._options):
            if is_document_name(name):
                self._in_other_splits += 1
                if location.split not in above.split("/"):
                    self._in_renamed_splits.append(path)
        elif location.label is not None or format_by_name(name) != "text" or is_compressed(name) or is_archive(name):
            self._files.append(path)

    def add_link(self, path: str) -> None:
        """Add a link that was found in an archive. Links are not read."""
        self._links.append(path)

    def report(self, where: str, on_note: OnNote) -> None:
        """If files were not read, call ``on_note`` with their number and the reason."""
        if self._files:
            advice = "only .txt files and files named by a number are read; rename documents, and pass tables by name"
            on_note(where, f"{_counted(self._files)} not read, because {advice}")
        if self._links:
            advice = "because it is a link" if len(self._links) == 1 else "because they are links"
            on_note(where, f"{_counted(self._links)} not read, {advice}; pack files instead of links")
        if self._in_renamed_splits:
            advice = "`splits=()` reads all splits"
            on_note(where, f"{_counted(self._in_renamed_splits)} not read, because they are in another split; {advice}")

    def nothing_in(self, where: str) -> DataError:
        """Return the error for a folder or archive in which no file was read."""
        selected, advice = "", ""
        if self._in_other_splits:
            selected = f" in split {' or '.join(self._options.splits)}"
            advice = f" Other splits contain {self._in_other_splits:,} of them; `splits=()` reads all splits."
        elif self._links:
            advice = f" {_counted(self._links)} not read, because links are not followed; pack files instead."
        elif self._files:
            advice = f" Rename documents such as {self._files[0]}."
        return DataError(
            f"it contains no .txt file{selected}",
            where=where,
            hint=f"A folder is read as one document per .txt file; pass .csv, .tsv or .jsonl files by name.{advice}",
        )


def _counted(files: list[str]) -> str:
    """Return the beginning of a sentence about files: their number, an example, and the verb "was" or "were".

    >>> _counted(["a.csv"]), _counted(["a.csv", "b.csv"])
    ('1 file (a.csv) was', '2 files (a.csv, ...) were')
    """
    return f"1 file ({files[0]}) was" if len(files) == 1 else f"{len(files):,} files ({files[0]}, ...) were"


@dataclass(frozen=True)
class _Location:
    label: str | None
    split: str | None


# A member of an archive: its path, its location (None if it is not to be read), and its contents (None if it is a link
# or not to be read).
_Member = tuple[str, _Location | None, bytes | None]


def _locate(path: str, root: str, options: ReadOptions) -> _Location | None:
    """Return the label and the split of a file, as determined by its folders, or None if the file is not to be read.

    Args:
        path: path of the file, with slashes, relative to the input.
        root: name of the folder to which ``path`` is relative; an empty string for an archive.
        options: reading options.
    """
    folders, _, name = path.rpartition("/")
    if not is_document_name(name) or name.startswith(_NON_DOCUMENT_PREFIXES):
        return None
    location = _location_of(f"{root}/{folders}")
    return location if _is_selected(location, options) else None


def _is_selected(location: _Location, options: ReadOptions) -> bool:
    return not options.splits or location.split in (None, *options.splits)


@lru_cache
def _location_of(folders: str) -> _Location:
    """Return the label and the split of the files in a folder.

    The name of the innermost folder is the label, unless this folder is a split or the file is at the top level. A
    folder with an alternative name of a split, such as ``val``, is treated as a split only if the files are in a
    sub-folder, whose name is their label; otherwise, the alternative name may itself be the label.
    """
    root, *inside = folders.split("/")
    inside = [part for part in inside if part not in ("", ".")]
    split = next((part for part in reversed([root, *inside]) if part in SPLITS), None)
    if split is None:
        outer = [part.lower() for part in inside[:-1]]
        split = next((_SPLIT_NAMES[part] for part in reversed(outer) if part in _SPLIT_NAMES), None)
    label = normalize_label(inside[-1]) if inside else ""
    return _Location(None if label in (*SPLITS, "", "..") else label, split)
