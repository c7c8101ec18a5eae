"""Reads the labelled data for ``nlptx check``. Rows with missing values cause no error; they are kept and reported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from nlptx.corpus.columns import matching_columns, missing_column, single_match
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.corpus.exclusion import Exclusion
from nlptx.corpus.label_map import is_removed
from nlptx.corpus.label_sets import read_labels
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import first_name
from nlptx.errors import DataError
from nlptx.evaluation.seeds import SEED_COLUMN

# Sorted names of a text's labels. For single-label data, the tuple has length 1.
Labels = tuple[str, ...]


@dataclass(frozen=True)
class DataRows:
    """The rows of labelled data.

    Args:
        documents: the N documents. Of the table columns, only the text, the label and the column ``seed`` are kept.
        labels: labels of each text; None for a text without a label.
        columns: names of all columns, in order of first occurrence; empty for plain text.
        unreadable: number of rows that could not be read and are therefore left out.
        unreadable_positions: positions of the first unreadable rows, at most 100.
        separator: for multi-label data, the string between the labels of a text; otherwise None.
        sha256: SHA-256 of the data, as in :class:`.Corpus`.
    """

    documents: list[Document]
    labels: list[Labels | None]
    columns: list[str] = field(default_factory=list)
    unreadable: int = 0
    unreadable_positions: list[str] = field(default_factory=list)
    separator: str | None = None
    sha256: str = ""

    def joined(self, labels: Labels | None) -> str:
        """Return the labels of a text as they are written in a cell; "" if there are none."""
        return (self.separator or "").join(labels or ())

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def texts(self) -> list[str]:
        """The N texts."""
        return [document.text for document in self.documents]

    @property
    def positions(self) -> list[str]:
        """Position of each text in the input, as ``file:line`` or ``file``."""
        return [document.where for document in self.documents]

    def followed_by(self, other: DataRows) -> DataRows:
        """Return these rows, followed by the rows of ``other``."""
        return replace(self, documents=self.documents + other.documents, labels=self.labels + other.labels)


def check_label_column(rows: DataRows, reading: ReadOptions, on_note: Callable[[str], None]) -> None:
    """Report that a table has no label column, so that its rows are treated as unlabelled.

    Raises:
        DataError: the label column was chosen by the user.
    """
    if not rows.columns or matching_columns(reading.label_column, rows.columns):
        return
    if reading.label_column != ReadOptions.label_column:
        raise missing_column(reading.label_column, rows.columns, rows.positions[0], "label_column")
    if not any(rows.labels):
        on_note(
            f"there is no column {reading.label_column!r}, so the data is checked as unlabelled; name the column"
            " with the labels with `label_column`"
        )


def read_rows(
    paths: Sequence[str],
    reading: ReadOptions,
    on_note: Callable[[str], None] = lambda note: None,
    on_document: Callable[[int], None] = lambda documents: None,
    *,
    check_map: bool = True,
) -> DataRows:
    """Read all rows, including rows without a text or a label; leave out the rows listed in ``reading.exclude``.

    Args:
        paths: files, folders and archives, or ``-`` for standard input.
        reading: options for reading. Rows that cannot be read are always left out and counted.
        on_note: called with notes about the inputs.
        on_document: called after every 10,000 documents, with the number of documents read so far.
        check_map: whether to check that the labels which ``reading.label_map`` replaces occur in the rows.

    Raises:
        DataError: an input is not text, there are no rows, or several columns match the name of the label column.
    """
    corpus = Corpus(paths, replace(reading, skip_bad=True), on_note)
    exclusion = Exclusion.of(reading)
    documents: list[Document] = []
    columns: dict[str, None] = {}
    removed: set[str] = set()
    for document in corpus:
        if exclusion is not None and exclusion.contains(document):
            continue
        if document.label is None and document.fields is not None:
            label_columns = matching_columns(reading.label_column, document.fields)
            single_match(label_columns, reading.label_column, document.where, "label_column")
        columns.update(dict.fromkeys(document.fields or ()))
        if is_removed(document.label, reading.label_map):
            removed.add(document.label or "")
            document = document._replace(label=None)
        seed = (document.fields or {}).get(SEED_COLUMN)
        documents.append(document._replace(fields=None if seed is None else {SEED_COLUMN: seed}))
        if not len(documents) % 10_000:
            on_document(len(documents))
    if exclusion is not None:
        on_note(exclusion.note())
    unreadable = len(corpus.left_out)
    if not documents:
        where = corpus.left_out.positions[0] if unreadable else first_name(paths)
        raise DataError("there is nothing to check: no row can be read", where=where)
    separator = reading.label_separator
    empty_is_label = separator is not None and bool(matching_columns(reading.label_column, columns))
    labelled = [row for row, document in enumerate(documents) if document.label is not None or empty_is_label]
    cells = [documents[row].label or "" for row in labelled]
    labels: list[Labels | None] = [None] * len(documents)
    found_labels = read_labels(cells, reading, on_note, removed=removed, check_map=check_map) if cells else []
    for row, label in zip(labelled, found_labels, strict=True):
        labels[row] = (label,) if isinstance(label, str) else tuple(label)
    positions = corpus.left_out.positions
    return DataRows(documents, labels, list(columns), unreadable, positions, separator, corpus.sha256)
