"""A table of rows to leave out of a corpus. It lists the position and the beginning of the text of each row."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError, quoted

# Maximum number of characters stored in the table for each text.
_MAX_EXCERPT = 1000
_MAX_DIGITS = 18  # of a line number
_HINT = "Make the table again with nlptx check."


def excerpt(text: str) -> str:
    """Return the beginning of a text as one line with single spaces, which is the form stored in the table."""
    start = text[: 2 * _MAX_EXCERPT].replace("\0", " ").encode("utf-8", "backslashreplace").decode()
    return " ".join(start.split())[:_MAX_EXCERPT].strip()


@dataclass
class Exclusion:
    """The rows to leave out, and which of them have been found in the data.

    Args:
        path: path of the table, shown in messages.
        texts: (file, line) -> beginning of the text at this position. Line 0 means that the whole file is one text.
        seen: positions of the rows that have been left out.
    """

    path: str
    texts: dict[tuple[str, int], str]
    seen: set[tuple[str, int]] = field(default_factory=set)

    @classmethod
    def of(cls, options: ReadOptions) -> Exclusion | None:
        """Read the table of the rows to leave out, ``options.exclude``; None if it is not set. See :meth:`read`."""
        return None if options.exclude is None else cls.read(options.exclude)

    @classmethod
    def read(cls, path: str) -> Exclusion:
        """Read a table with the columns ``file``, ``line`` and ``text``, as ``nlptx check --bad-rows`` writes it.

        Raises:
            DataError: the table lacks one of the columns, or a cell of the column ``line`` is not a number.
        """
        texts = {}
        for document in Corpus([path], ReadOptions()):
            fields = document.fields or {}
            if missing := [name for name in ("file", "line", "text") if name not in fields]:
                raise DataError(f"there is no column {missing[0]!r}", where=document.where, hint=_HINT)
            line = str(fields["line"]).strip()
            if not line.isdecimal() or len(line) > _MAX_DIGITS:
                raise DataError(f"the line is {quoted(line)}; expected a number", where=document.where, hint=_HINT)
            texts[_normal(str(fields["file"])), int(line)] = excerpt(document.text)
        return cls(path, texts)

    def contains(self, document: Document) -> bool:
        """Return whether a document is to be left out.

        Raises:
            DataError: the table lists the position of the document, but with a different text.
        """
        position = _normal(document.source), document.line
        text = self.texts.get(position)
        if text is None:
            return False
        if text != excerpt(document.text):
            raise DataError(
                f"this text differs from the one in {self.path}: the data or the reading options have changed since"
                " the table was made",
                where=document.where,
                hint=_HINT,
            )
        self.seen.add(position)
        return True

    def note(self) -> str:
        """Return a note with the number of rows that were left out.

        Raises:
            DataError: the table has rows, but none of them is in the data.
        """
        missing = len(self.texts) - len(self.seen)
        if self.texts and not self.seen:
            source, line = next(iter(self.texts))
            raise DataError(
                f"none of its {len(self.texts):,} rows is in the data; the first one is {source}:{line}",
                where=self.path,
                hint="Pass the data with the same paths as to nlptx check.",
            )
        note = f"left out {len(self.seen):,} row{'s' * (len(self.seen) != 1)} listed in {self.path}"
        return note + (f"; the table also lists {missing:,} that are not in the data" if missing else "")


def _normal(source: str) -> str:
    """Return the normal form of a file name: both ./data.tsv and data.tsv become data.tsv."""
    return os.path.normpath(source)
