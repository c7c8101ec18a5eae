"""Checks that documents have the label or the text that a command needs.

A document without a required label causes an error or, with ``skip_bad``, is left out. A document without a text is
left out with ``skip_bad``, and kept otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from nlptx.corpus.columns import matching_columns, missing_column, single_match
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.corpus.exclusion import Exclusion
from nlptx.corpus.label_map import is_removed
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError, LabelError


class LabelledDocuments:
    """The documents of a corpus, whose labels are checked. The documents can be iterated over only once.

    A document without a label causes an error. If the corpus is read with ``skip_bad``, documents without a label or
    without a text are left out instead, and a note at the end gives their number. If the label map replaces a label
    with nothing, documents with this label are always left out. Documents in the split that ``unlabelled`` names are
    not checked. Rows listed in the table given by the reading option ``exclude`` are left out too, and a note gives
    their number. With a ``label_separator``, an empty label cell is valid: the text has none of the labels.

    Args:
        corpus: the documents.
        unlabelled: name of the split whose documents need no label, or None.
        exclusion: rows to leave out, if several corpora share the table; the option ``exclude`` is then ignored, and
            the caller prints the note.

    Attributes:
        left_out: texts of the documents that were left out.
        removed_labels: labels of the documents that were left out because the label map replaces their label with
            nothing.
    """

    def __init__(self, corpus: Corpus, unlabelled: str | None = None, exclusion: Exclusion | None = None) -> None:
        self.corpus = corpus
        self.unlabelled = unlabelled
        self._exclusion = exclusion
        self.left_out: list[str] = []
        self.removed_labels: set[str] = set()
        self._checked: str | None = None  # the last source whose columns were checked

    def __iter__(self) -> Iterator[Document]:
        """Yield the documents. Raise LabelError, with file and line, if a label is missing."""
        kept, left_out = 0, self.corpus.left_out
        exclusion = self._exclusion or Exclusion.of(self.corpus.options)
        for document in self.corpus:
            if exclusion is not None and exclusion.contains(document):
                self.left_out.append(document.text)
            elif self._is_kept(document):
                kept += 1
                yield document
        if left_out and not kept:
            names = "Name the columns with `text_column` and `label_column`."
            raise LabelError(
                f"no row has both a text and a label: {left_out.causes}",
                where=left_out.positions[0],
                hint="Do not remove all labels with `label_map`." if self.removed_labels else names,
            )
        self.corpus.note_left_out()
        if exclusion is not None and self._exclusion is None:
            self.corpus.on_note(exclusion.note())

    def _is_kept(self, document: Document) -> bool:
        options = self.corpus.options
        if self.unlabelled is not None and document.split == self.unlabelled:
            return True
        fields = document.fields or {}
        if document.source != self._checked:
            self._checked = document.source
            _check_columns(document, options)
        column_is_missing = False
        if options.label_column not in fields:
            label_columns = matching_columns(options.label_column, fields)
            # Even with `skip_bad`, a missing label column is an error, except in JSON lines, whose rows can have
            # different columns, and in folders, which can have files outside the label folders.
            column_is_missing = document.format not in ("jsonl", "document") and len(label_columns) != 1
            if len(label_columns) == 1:
                self.corpus.note_guess(document.source, f"column {label_columns[0]!r} is read as the label")
        if options.label_separator is not None:
            check_is_table(document)
        if is_removed(label := document.label, options.label_map):
            self.removed_labels.add(str(label))
            self._leave_out(document, f"with the label {label!r}")
            return False
        may_be_empty = options.label_separator is not None and len(matching_columns(options.label_column, fields)) == 1
        if not options.skip_bad or (column_is_missing and document.label is None):
            if not may_be_empty:
                check_label(document, options.label_column)
            return True
        no_label = document.label is None and not may_be_empty
        missing = "label" if no_label else "text" if not document.text.strip() else ""
        if missing:
            self._leave_out(document, f"without a {missing}")
        return not missing

    def _leave_out(self, document: Document, cause: str) -> None:
        self.left_out.append(document.text)
        self.corpus.left_out.add(cause, document.where)


def _check_columns(document: Document, options: ReadOptions) -> None:
    """Raise DataError if the texts and the labels are in the same column of a table."""
    if document.fields is not None:
        label_columns = matching_columns(options.label_column, document.fields)
        if len(label_columns) == 1 and label_columns == matching_columns(options.text_column, document.fields):
            raise DataError(
                f"column {label_columns[0]!r} is both the text and the label",
                where=document.where,
                hint="Name two different columns with `text_column` and `label_column`.",
            )


def documents_with_text(corpus: Corpus) -> Iterator[Document]:
    """Yield the documents of a corpus. With ``skip_bad``, documents without a text are left out and counted."""
    for document in corpus:
        if corpus.options.skip_bad and not document.text.strip():
            corpus.left_out.add("without a text", document.where)
        else:
            yield document


def check_is_table(document: Document) -> None:
    """Raise LabelError if a document of multi-label data is not a table row."""
    if document.fields is None:
        raise LabelError(
            "this text is not in a table, so it cannot have several labels",
            where=document.where,
            hint="`label_separator` is for tables, such as .csv files; with one folder per label, each text has one"
            " label.",
        )


def check_label(document: Document, label_column: str) -> None:
    """Raise LabelError, with file and line, if the document has no label."""
    if document.label is not None:
        return
    if document.fields is None:
        raise LabelError(
            "this text has no label",
            where=document.where,
            hint="Use .csv, .tsv or .jsonl files with a label column (`label_column`),"
            " or a folder with one sub-folder per label."
            + (" `skip_bad` leaves out files that are in no such sub-folder." if document.format == "document" else ""),
        )
    column = single_match(matching_columns(label_column, document.fields), label_column, document.where, "label_column")
    if column is None:
        raise LabelError(
            missing_column(label_column, list(document.fields), document.where, "label_column").message,
            where=document.where,
            hint="Name the column with `label_column`"
            + (", or set `skip_bad` to leave out rows without a label." if document.format == "jsonl" else "."),
        )
    raise LabelError(
        f"the label is missing: column {column!r} is empty",
        where=document.where,
        hint="Fill it in, or leave such rows out with `skip_bad`. If a text can have several labels or none, set"
        " `label_separator`.",
    )
