"""Labelled documents: a document without a label is an error, or is left out and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.errors import LabelError

# Maximum number of left-out rows that a note lists.
_NAMED = 3


class LabelledDocuments:
    """The documents of a corpus, each with a label. Iterate once.

    A document without a label is an error. If the corpus is read with ``skip_bad``, documents without a label or a
    text are left out, and a note at the end gives their number. Documents of the split ``unlabelled`` are not checked.

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
        self._causes: Counter[str] = Counter()
        self._named: list[str] = []

    def __iter__(self) -> Iterator[Document]:
        """Yield the documents. Raise LabelError, with file and line, if a label is missing."""
        kept = 0
        for document in self.corpus:
            if self._is_kept(document):
                kept += 1
                yield document
        if self.left_out:
            self._tell(kept)

    def _is_kept(self, document: Document) -> bool:
        options = self.corpus.options
        if self.unlabelled is not None and document.split == self.unlabelled:
            return True
        # Only in JSON lines may the columns differ from row to row.
        all_lack_it = document.format != "jsonl" and options.label_column not in (document.fields or {})
        if not options.skip_bad or (all_lack_it and document.label is None):
            check_label(document, options.label_column)
            return True
        lacking = "label" if document.label is None else "text" if not document.text.strip() else ""
        if lacking:
            self.left_out.append(document.text)
            self._causes[lacking] += 1
            if len(self._named) < _NAMED:
                self._named.append(document.where)
        return not lacking

    def _tell(self, kept: int) -> None:
        total = len(self.left_out)
        causes = ", ".join(f"{count:,} without a {cause}" for cause, count in sorted(self._causes.items()))
        places = ", ".join(self._named) + (", ..." if total > len(self._named) else "")
        if not kept:
            raise LabelError(
                f"no row has both a text and a label: {causes}",
                where=self._named[0],
                hint="Name the columns with `text_column` and `label_column`.",
            )
        self.corpus.on_note(f"left out {total:,} row{'s' * (total > 1)}: {causes} ({places})")


def check_label(document: Document, label_column: str) -> None:
    """Raise LabelError, with file and line, if the document has no label."""
    if document.label is not None:
        return
    if document.fields is None:
        raise LabelError(
            "this text has no label",
            where=document.where,
            hint="Give .csv, .tsv or .jsonl files with a label column (`label_column`),"
            " or a folder with one sub-folder per label.",
        )
    if label_column not in document.fields:
        raise LabelError(
            f"no column {label_column!r}; the columns are {', '.join(document.fields)}",
            where=document.where,
            hint="Name the column with `label_column`, or leave rows without a label out with `skip_bad`.",
        )
    raise LabelError(
        f"the label is missing: column {label_column!r} is empty",
        where=document.where,
        hint="Fill it in, or leave such rows out with `skip_bad`.",
    )
