"""Training data: labelled texts, texts without labels, and held-out texts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from nlptx.corpus.corpus import Corpus, digest, to_bytes
from nlptx.corpus.document import Document, ReadOptions, non_default_options
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.runtime.progress import counted

# Parts that are read of a corpus with folders train, test and unsup. Texts in unsup need no label.
SPLITS = ("train", "unsup")
_UNLABELLED = "unsup"
_HELD_OUT = "test"
_OPTIONS = ReadOptions(splits=SPLITS)

Inputs = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass
class TrainingTexts:
    """Texts for training; pass them to :func:`nlptx.fit`.

    Args:
        texts, labels: training texts and their labels.
        unlabelled: texts without labels.
        valid: held-out texts and their labels, or None.
        source: number of documents and digests, for :attr:`nlptx.Model.source`.
        left_out: texts of the rows that ``skip_bad`` left out.
        corpus: number, digest and reading options of all texts except the held-out ones, as ``nlptx cooccur`` records
            them when it counts the same inputs.
    """

    texts: list[str]
    labels: list[str]
    unlabelled: list[str]
    valid: tuple[list[str], list[str]] | None = None
    source: dict[str, Any] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    corpus: dict[str, Any] = field(default_factory=dict)


def read_training_data(
    data: Inputs,
    unlabelled: Inputs = (),
    valid: Inputs = (),
    options: ReadOptions = _OPTIONS,
    on_document: Callable[[int], None] = lambda documents: None,
    on_note: Callable[[str], None] = lambda note: None,
) -> TrainingTexts:
    r"""Read labelled texts from tables, folders or archives.

    Args:
        data: one or more paths, or ``-`` for standard input; the part ``unsup`` of a corpus needs no labels.
        unlabelled: paths of texts without labels; only the part ``unsup`` is read if a corpus has parts.
        valid: paths of held-out texts; only the part ``test`` is read if a corpus has parts.
        options: options for reading.
        on_document: called from time to time with the number of documents read so far.
        on_note: called with notes about the inputs.

    Raises:
        DataError, LabelError: a text cannot be read or has no label; the error gives file and line.

    >>> with open("films.tsv", "w") as file:
    ...     print("text\tlabel", "a good film\tpos", "a bad film\tneg", sep="\n", file=file)
    >>> data = read_training_data("films.tsv")
    >>> data.texts, data.labels
    (['a good film', 'a bad film'], ['pos', 'neg'])
    """
    corpus = Corpus(_names(data), options, on_note)
    found = _read_sorted(corpus, on_document)
    source: dict[str, Any] = {"documents": corpus.documents, "sha256": corpus.sha256, **found.source}
    source["reading"] = non_default_options(options, SPLITS)
    read, sha256 = corpus.documents, corpus.copy_hash()
    if names := _names(unlabelled):
        more = Corpus(names, replace(options, splits=(_UNLABELLED,)), on_note)
        for document in counted(more, on_document, read):
            found.unlabelled.append(document.text)
            sha256.update(to_bytes(document))
        read += more.documents
        source["unlabelled_documents"], source["unlabelled_sha256"] = more.documents, more.sha256
        source["texts_sha256"] = sha256.hexdigest()
    found.corpus = {
        "documents": read,
        "sha256": sha256.hexdigest(),
        "reading": non_default_options(replace(options, skip_bad=False), SPLITS),
    }
    if names := _names(valid):
        held_out = Corpus(names, replace(options, splits=(_HELD_OUT,)), on_note)
        known = _read_sorted(held_out, on_document, read)
        found.valid = known.texts, known.labels
        source["valid_documents"], source["valid_sha256"] = held_out.documents, held_out.sha256
    found.source = source
    return found


def _names(inputs: Inputs) -> tuple[str, ...]:
    return (os.fspath(inputs),) if isinstance(inputs, str | os.PathLike) else tuple(os.fspath(name) for name in inputs)


def _read_sorted(corpus: Corpus, on_document: Callable[[int], None], already: int = 0) -> TrainingTexts:
    """Read a corpus. Files with one text each are sorted by the numbers in their names: 2.txt before 10.txt.

    So a folder and its archive give the same model, and texts with nearby numbers are neighbours. Such texts often
    have the same subject, and the held-out texts should have subjects that do not occur in training.
    """
    known: list[Document] = []
    free: list[Document] = []
    documents = LabelledDocuments(corpus, _UNLABELLED)
    for document in counted(documents, on_document, already):
        (free if document.split == _UNLABELLED else known).append(document)
    # Digest of the labelled texts only, because ``evaluate`` reads only these.
    source = {"labelled_sha256": digest(known)} if free else {}
    known.sort(key=_natural)
    free.sort(key=_natural)
    return TrainingTexts(
        [document.text for document in known],
        [document.label or "" for document in known],
        [document.text for document in free],
        source=source,
        left_out=documents.left_out,
    )


def _natural(document: Document) -> list[tuple[int, str]]:
    """Return a key that sorts one-text files by the numbers in their names. It is empty for lines and rows."""
    if document.line:
        return []
    found = re.findall(r"[0-9]+|[^0-9]+", document.source)
    numbers = [part.lstrip("0") if part[0].isdecimal() else None for part in found]
    # A number with more digits is larger. int() would reject very long numbers.
    return [
        (0, part) if number is None else (1 + len(number), number) for part, number in zip(found, numbers, strict=True)
    ]
