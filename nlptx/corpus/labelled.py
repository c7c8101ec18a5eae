"""Checks that documents have the label or the text that a command needs.

A document without a required label or text causes an error or is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from nlptx.corpus.columns import matching_columns, missing_column, single_match
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.corpus.exclusion import Exclusion
from nlptx.errors import LabelError


class LabelledDocuments:
    """The documents of a corpus, each with a label. The documents can be iterated over only once.

    A document without a label causes an error. If the corpus is read with ``skip_bad``, documents without a label or
    without a text are left out instead, and a note at the end gives their number. Documents in the split ``unlabelled``
    are not checked. Rows listed in the table ``exclude`` of the reading options are left out too, and a note gives
    their number. With a ``label_separator``, an empty label cell is valid: the text has none of the labels.

    Args:
        corpus: the documents.
        unlabelled: name of the split whose documents need no label, or None.

    Attributes:
        left_out: texts of the documents that were left out.
    """

    def __init__(self, corpus: Corpus, unlabelled: str | None = None) -> None:
        self.corpus = corpus
        self.unlabelled = unlabelled
        self.left_out: list[str] = []

    def __iter__(self) -> Iterator[Document]:
        """Yield the documents. Raise LabelError, with file and line, if a label is missing."""
        kept, left_out = 0, self.corpus.left_out
        exclude = self.corpus.options.exclude
        exclusion = None if exclude is None else Exclusion.read(exclude)
        for document in self.corpus:
            if exclusion is not None and exclusion.contains(document):
                self.left_out.append(document.text)
            elif self._is_kept(document):
                kept += 1
                yield document
        if left_out and not kept:
            raise LabelError(
                f"no row has both a text and a label: {left_out.causes}",
                where=left_out.first,
                hint="Name the columns with `text_column` and `label_column`.",
            )
        self.corpus.note_left_out()
        if exclusion is not None:
            self.corpus.on_note(exclusion.note())

    def _is_kept(self, document: Document) -> bool:
        options = self.corpus.options
        if self.unlabelled is not None and document.split == self.unlabelled:
            return True
        fields = document.fields or {}
        column_is_missing = False
        if options.label_column not in fields:
            found = matching_columns(options.label_column, fields)
            # JSON lines is the only format in which rows can have different columns.
            column_is_missing = document.format != "jsonl" and len(found) != 1
            if len(found) == 1:
                self.corpus.note_guess(document.source, f"column {found[0]!r} is read as the label")
        if options.label_separator is not None:
            check_is_table(document)
        may_be_empty = options.label_separator is not None and len(matching_columns(options.label_column, fields)) == 1
        if not options.skip_bad or (column_is_missing and document.label is None):
            if not may_be_empty:
                check_label(document, options.label_column)
            return True
        no_label = document.label is None and not may_be_empty
        missing = "label" if no_label else "text" if not document.text.strip() else ""
        if missing:
            self.left_out.append(document.text)
            self.corpus.left_out.add(f"without a {missing}", document.where)
        return not missing


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
            " or a folder with one sub-folder per label.",
        )
    column = single_match(matching_columns(label_column, document.fields), label_column, document.where, "label_column")
    if column is None:
        raise LabelError(
            missing_column(label_column, list(document.fields), document.where, "label_column").message,
            where=document.where,
            hint="Name the column with `label_column`, or set `skip_bad` to leave out rows without a label.",
        )
    raise LabelError(
        f"the label is missing: column {column!r} is empty",
        where=document.where,
        hint="Fill it in, or leave such rows out with `skip_bad`.",
    )
