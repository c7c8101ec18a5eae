"""Collects the files of a folder or an archive that are not read, and reports those that the user may miss."""

from __future__ import annotations

from collections.abc import Callable

from nlptx.corpus.compression import is_compressed
from nlptx.corpus.locations import is_document_name, is_ignored, is_selected, location_of
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import format_by_name, is_archive
from nlptx.errors import DataError

# A function that is called with the name of an input and a note about it.
OnNote = Callable[[str, str], None]
# Explanation for files with the name of a document that cannot be read.
_SPECIAL = "broken links, pipes and devices are left out"


class SkippedFiles:
    """Collects files, such as tables, that were not read although the user may expect them to be read."""

    def __init__(self, root: str, options: ReadOptions) -> None:
        self._root, self._options = root, options
        self._files: list[str] = []
        self._links: list[str] = []
        self._special: list[str] = []
        self._in_other_splits = 0
        # Files that were not read because a folder above them, such as val/, is treated as a split whose name ("valid")
        # differs from that of the folder. The user may not expect this.
        self._in_renamed_splits: list[str] = []

    def add(self, path: str) -> None:
        """Add a file that was not read; ``path`` is relative to the folder or archive."""
        folders, _, name = path.rpartition("/")
        if is_ignored(path):
            return
        above = f"{self._root}/{folders}"
        location = location_of(above)
        if not is_selected(location, self._options):
            if is_document_name(name):
                self._in_other_splits += 1
                if location.split not in above.split("/"):
                    self._in_renamed_splits.append(path)
        elif location.label is not None or format_by_name(name) != "text" or is_compressed(name) or is_archive(name):
            self._files.append(path)

    def add_link(self, path: str) -> None:
        """Add a link in an archive. It was not read, because links are not followed."""
        self._links.append(path)

    def add_special(self, path: str) -> None:
        """Add a broken link, a pipe or a device in a folder. It was not read, because it contains no document."""
        self._special.append(path)

    def report(self, where: str, on_note: OnNote) -> None:
        """If files were not read, call ``on_note`` with their number and the reason."""
        if self._files:
            advice = "only .txt files and files named by a number are read; rename documents, and pass tables by name"
            on_note(where, f"{_counted(self._files)} not read, because {advice}")
        if self._links:
            advice = "because it is a link" if len(self._links) == 1 else "because they are links"
            on_note(where, f"{_counted(self._links)} not read, {advice}; pack files instead of links")
        if self._in_renamed_splits:
            they = "it is" if len(self._in_renamed_splits) == 1 else "they are"
            split = f"because {they} in another split; `splits=()` reads all splits"
            on_note(where, f"{_counted(self._in_renamed_splits)} not read, {split}")
        if self._special:
            on_note(where, f"{_counted(self._special)} not read; {_SPECIAL}")

    def nothing_in(self, where: str) -> DataError:
        """Return the error for a folder or archive in which no file was read."""
        selected, advice = "", ""
        if self._in_other_splits:
            selected = f" in split {' or '.join(self._options.splits)}"
            advice = f" Other splits contain {self._in_other_splits:,} of them; `splits=()` reads all splits."
        elif self._links:
            advice = f" {_counted(self._links)} not read, because links are not followed; pack files instead."
        elif self._special:
            advice = f" {_counted(self._special)} not read; {_SPECIAL}."
        elif self._files:
            advice = f" Rename documents such as {self._files[0]}."
        return DataError(
            f"it contains no .txt file{selected}",
            where=where,
            hint="A folder or archive is read as one document per .txt file; extract .csv, .tsv or .jsonl files from an"
            f" archive, and pass them by name.{advice}",
        )


def _counted(files: list[str]) -> str:
    """Return the beginning of a sentence about files: their number, an example, and the verb "was" or "were".

    >>> _counted(["a.csv"]), _counted(["a.csv", "b.csv"])
    ('1 file (a.csv) was', '2 files (a.csv, ...) were')
    """
    return f"1 file ({files[0]}) was" if len(files) == 1 else f"{len(files):,} files ({files[0]}, ...) were"
