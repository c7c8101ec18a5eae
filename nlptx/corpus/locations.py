"""Determines which files of a folder or an archive are documents, and their labels and splits, by their paths."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

from nlptx.corpus.document import normalize_label
from nlptx.corpus.read_options import SPLITS, ReadOptions

# Name of a folder, in lower case -> name of the split. No command selects "valid" by default, and ``--split`` does not
# accept this name, so that validation texts are never used for training or testing by accident.
_SPLIT_NAMES = dict(zip(SPLITS, SPLITS, strict=True)) | {"training": "train", "testing": "test"}
_SPLIT_NAMES |= dict.fromkeys(("val", "valid", "validation", "dev"), "valid")

# A file whose name starts like this is not a document: hidden files, README files, and the lists of web addresses and
# other files without reviews in the aclImdb corpus (such as urls_pos.txt).
_NON_DOCUMENT_PREFIXES = (".", "urls_", "imdbEr.", "README.")


@dataclass(frozen=True)
class Location:
    """The label and the split of a file, or None if its folders do not determine them."""

    label: str | None
    split: str | None


def is_document_name(name: str) -> bool:
    """Return whether a file in a folder or an archive is a document, judging by its name."""
    return os.path.splitext(name)[1].lower() == ".txt" or (name.isascii() and name.isdigit())


def locate(path: str, root: str, options: ReadOptions) -> Location | None:
    """Return the label and the split of a file, as determined by its folders, or None if the file is not to be read.

    Args:
        path: path of the file, with slashes, relative to the input.
        root: name of the folder to which ``path`` is relative; an empty string for an archive.
        options: reading options.
    """
    folders, _, name = path.rpartition("/")
    if not is_document_name(name) or is_ignored(path):
        return None
    location = location_of(f"{root}/{folders}")
    return location if is_selected(location, options) else None


def is_ignored(path: str) -> bool:
    """Return whether a file is no document because of its name, or because it is in a hidden folder."""
    *folders, name = path.split("/")
    is_hidden = any(folder.startswith(".") and folder not in (".", "..") for folder in folders)
    return is_hidden or name.startswith(_NON_DOCUMENT_PREFIXES)


def is_selected(location: Location, options: ReadOptions) -> bool:
    """Return whether files with this location are read."""
    return not options.splits or location.split in (None, *options.splits)


@lru_cache
def location_of(folders: str) -> Location:
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
    return Location(None if label in (*SPLITS, "", "..") else label, split)
