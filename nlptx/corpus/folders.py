"""Reads folders and archives, in which every .txt file is one document.

Files whose names are numbers are documents too, because the documents of the 20 Newsgroups corpus have such names.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from nlptx.corpus.archive_members import read_members
from nlptx.corpus.locations import Location, locate
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.skipped_files import OnNote, SkippedFiles
from nlptx.corpus.source import MAX_PACKED_BYTES, Source
from nlptx.io.truncation import open_detecting_truncation

# A member of an archive: its path, its location (None if it is not to be read), and its contents (None if it is a link
# or not to be read).
_Member = tuple[str, Location | None, bytes | None]
# Size in bytes from which on an archive is read in the background, and total size of the members of a batch.
_MIN_ARCHIVE_BYTES, _BATCH_BYTES = 1 << 20, 1 << 20


def read_folder(folder: Path, options: ReadOptions, on_note: OnNote) -> Iterator[Source]:
    """Yield the documents in a folder. For the arguments, see :func:`nlptx.corpus.opening.open_input`."""
    has_documents, skipped = False, SkippedFiles(folder.name, options)
    for path in sorted(_files_in(folder)):
        name = path.relative_to(folder).as_posix()
        location = locate(name, folder.name, options)
        if location is not None and path.is_file():
            has_documents = True
            with open_detecting_truncation(str(path)) as stream:
                yield Source(str(path), stream, "document", location.label, location.split)
        elif location is not None:
            skipped.add_special(name)
        else:
            skipped.add(name)
    if not has_documents:
        raise skipped.nothing_in(str(folder))
    skipped.report(str(folder), on_note)


def _files_in(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield everything below a folder that is not a folder, at any depth. Links to folders are followed.

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


def read_archive(name: str, options: ReadOptions, on_note: OnNote) -> Iterator[Source]:
    """Yield the documents in an archive. Nothing is written to disk, so links and names with ``..`` are harmless.

    For the arguments, see :func:`nlptx.corpus.opening.open_input`.
    """
    has_documents, skipped = False, SkippedFiles("", options)
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
            location = locate(path, "", options)
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
