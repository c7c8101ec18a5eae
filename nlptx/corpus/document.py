"""A document."""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

# Maximum weight of a text, so that sums of weights do not overflow.
MAX_WEIGHT = 1e9


class Document(NamedTuple):
    """One text, its label if it has one, and its position in the input.

    Args:
        text: the text, without its line end.
        label: the label, or the contents of a cell with several labels; None if there is no label.
        source: path of the file, as the user gave it; ``archive:member`` inside an archive.
        line: line of the file on which the document begins, counted from 1; 0 if the whole file is one document.
        fields: all cells of the table row, by column name; None for plain text.
        format: input format (text, document, csv, tsv, jsonl or parquet).
        split: ``train``, ``test``, ``unsup`` or ``valid`` if the document is in a folder of this split, otherwise None.
        delimiter: character between the columns of a CSV table.
        weight: weight in training; a text with a weight of 2 counts as two identical texts.
        has_bom: whether the file begins with a byte order mark; always False if the whole file is one document.
    """

    text: str
    label: str | None = None
    source: str = ""
    line: int = 0
    fields: dict[str, Any] | None = None
    format: str = "text"
    split: str | None = None
    delimiter: str = ","
    weight: float = 1.0
    has_bom: bool = False

    @property
    def where(self) -> str:
        """Position in the input, as ``file:line`` or ``file``."""
        return f"{self.source}:{self.line}" if self.line else self.source


def normalize_label(text: str) -> str:
    r"""Normalise a label that was written in a cell or as the name of a folder.

    White space at the ends is removed, and any other white space becomes a single space. Characters are composed
    (NFC), because file systems and programs differ in how they write accents.

    >>> normalize_label(" very\n good "), len(normalize_label("e\u0301"))
    ('very good', 1)
    """
    return unicodedata.normalize("NFC", " ".join(text.split()))
