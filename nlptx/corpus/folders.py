"""Reads folders and archives, in which every .txt file is one document."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from nlptx.corpus.archive_members import read_members
from nlptx.corpus.compression import is_packed
from nlptx.corpus.document import SPLITS, ReadOptions
from nlptx.corpus.source import LONGEST_PACKED, Source, format_by_name, is_archive
from nlptx.errors import DataError
from nlptx.io.whole_file import open_whole

# A function that is called with the name of an input and a note about it.
OnNote = Callable[[str, str], None]

# A text file whose name starts with one of these prefixes is not a document. The aclImdb corpus contains files with the
# second and the third prefix.
_NON_DOCUMENT_PREFIXES = (".", "urls_", "imdbEr.", "README.")


def read_folder(folder: Path, options: ReadOptions, on_note: OnNote) -> Iterator[Source]:
    """Yield the documents in a folder. For the arguments, see :func:`nlptx.corpus.sources.open_input`."""
    found, skipped = False, []
    for path in sorted(_files_in(folder)):
        name = path.relative_to(folder).as_posix()
        location = _locate(name, folder.name, options)
        if location is not None and path.is_file():
            found = True
            with open_whole(str(path)) as stream:
                yield Source(str(path), stream, "document", location.label, location.split)
        elif _is_other_input(name, folder.name, options):
            skipped.append(name)
    if not found:
        raise _nothing_in(str(folder), options)
    _report_skipped(str(folder), skipped, on_note)


def _files_in(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield the files below a folder, at any depth. Links to folders are followed.

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
                yield from _files_in(folder / entry.name, (*above, real))
            else:
                yield folder / entry.name


def _is_text(name: str) -> bool:
    return os.path.splitext(name)[1].lower() == ".txt"


def read_archive(name: str, options: ReadOptions, on_note: OnNote) -> Iterator[Source]:
    """Yield the documents in an archive. Nothing is written to disk, so links and names with ``..`` are harmless.

    For the arguments, see :func:`nlptx.corpus.sources.open_input`.
    """
    found, skipped = False, []
    for path, stream in read_members(name, LONGEST_PACKED + 1):
        location = _locate(path, "", options)
        if location is not None:
            found = True
            yield Source(f"{name}:{path}", stream, "document", location.label, location.split, packed=True)
        elif _is_other_input(path, "", options):
            skipped.append(path)
    if not found:
        raise _nothing_in(name, options)
    _report_skipped(name, skipped, on_note)


def _is_other_input(path: str, root: str, options: ReadOptions) -> bool:
    """Return whether a file in a selected split is a table, a compressed file or an archive, and not a document.

    For the arguments, see :func:`_locate`.
    """
    folders, _, name = path.rpartition("/")
    known = format_by_name(name) != "text" or is_packed(name) or is_archive(name)
    hidden = name.startswith(_NON_DOCUMENT_PREFIXES)
    return known and not hidden and _location_of(f"{root}/{folders}", options.splits) is not None


def _report_skipped(where: str, skipped: list[str], on_note: OnNote) -> None:
    """Report the tables, archives and compressed files that were not read, if there are any."""
    if skipped:
        files = "1 file was" if len(skipped) == 1 else f"{len(skipped):,} files were"
        example = skipped[0] if len(skipped) == 1 else f"{skipped[0]}, ..."
        advice = "only .txt files are read from folders and archives; pass other files by name"
        on_note(where, f"{files} not read ({example}), because {advice}")


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
