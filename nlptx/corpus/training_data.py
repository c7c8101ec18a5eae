"""Training data: labelled texts, texts without labels, and held-out texts."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from nlptx.corpus.corpus import Corpus, digest, to_bytes
from nlptx.corpus.document import Document, ReadOptions, non_default_options
from nlptx.corpus.label_sets import read_labels
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.sources import format_by_name
from nlptx.runtime.progress import counted

# The parts of a corpus with folders train, test and unsup that are read by default. Texts in unsup need no label.
SPLITS = ("train", "unsup")
_UNLABELLED = "unsup"
_HELD_OUT = "test"
_OPTIONS = ReadOptions(splits=SPLITS)

Inputs = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass
class TrainingTexts:
    """Texts for training; pass them to :func:`nlptx.fit`.

    Args:
        texts, labels: training texts and their labels; with a ``label_separator``, the labels of each text as a tuple.
        unlabelled: texts without labels.
        valid: held-out texts and their labels, or None.
        weights: weight of each training text, or None.
        source: number of documents and digests of the data, to be stored as :attr:`nlptx.Model.source`.
        left_out: texts of the rows that ``skip_bad`` left out, and of rows with the weight 0.
        documents: the documents of ``texts``, with the columns of their rows; empty unless requested.
        corpus: number, digest and reading options of all texts except the held-out texts. ``nlptx cooccur`` records the
            same values when it counts the same inputs.
    """

    texts: list[str]
    labels: list[str] | list[tuple[str, ...]]
    unlabelled: list[str]
    valid: tuple[list[str], list[str] | list[tuple[str, ...]]] | None = None
    weights: list[float] | None = None
    source: dict[str, Any] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    corpus: dict[str, Any] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)


def read_training_data(
    data: Inputs,
    unlabelled: Inputs = (),
    valid: Inputs = (),
    options: ReadOptions = _OPTIONS,
    on_document: Callable[[int], None] = lambda documents: None,
    on_note: Callable[[str], None] = lambda note: None,
    *,
    keep_documents: bool = False,
) -> TrainingTexts:
    r"""Read labelled texts from tables, folders or archives.

    Args:
        data: one or more paths, or ``-`` for standard input. Texts in a folder ``unsup`` need no labels.
        unlabelled: paths of texts without labels. If a corpus has the folders train, test and unsup, only ``unsup`` is
            read.
        valid: paths of held-out texts. If a corpus has the folders train, test and unsup, only ``test`` is read.
        options: options for reading; the label map applies to ``data`` and ``valid``, the weight column only to
            ``data``.
        on_document: called from time to time with the number of documents read so far.
        on_note: called with notes about the inputs.
        keep_documents: whether to return the documents of the texts too. They need more memory.

    Raises:
        DataError, LabelError: a text cannot be read or has no label (the error gives file and line), or none of the
            labels in the label map occurs in the data.

    >>> with open("films.tsv", "w") as file:
    ...     print("text\tlabel", "a good film\tpos", "a bad film\tneg", sep="\n", file=file)
    >>> data = read_training_data("films.tsv")
    >>> data.texts, data.labels
    (['a good film', 'a bad film'], ['pos', 'neg'])
    """
    noted: set[str] = set()
    corpus = Corpus(_names(data), options, on_note, noted)
    found = _read_sorted(corpus, on_document, keep_documents=keep_documents)
    source: dict[str, Any] = {"documents": corpus.documents, "sha256": corpus.sha256, **found.source}
    source["reading"] = non_default_options(options, SPLITS)
    cells: list[Any] = list(found.labels)
    held_out_texts: list[str] | None = None
    read, sha256 = corpus.documents, corpus.copy_hash()
    if names := _names(unlabelled):
        more_options = replace(_options_of(names, options, (_UNLABELLED,)), label_separator=None)
        more = Corpus(names, more_options, on_note, noted)
        for document in counted(more, on_document, read):
            found.unlabelled.append(document.text)
            sha256.update(to_bytes(document))
        more.note_left_out()
        read += more.documents
        source["unlabelled_documents"], source["unlabelled_sha256"] = more.documents, more.sha256
        source["texts_sha256"] = sha256.hexdigest()
    found.corpus = {
        "documents": read,
        "sha256": sha256.hexdigest(),
        "reading": non_default_options(_options_of_texts(options), SPLITS),
    }
    if names := _names(valid):
        held_out = Corpus(names, _options_of(names, options, (_HELD_OUT,)), on_note, noted)
        validation = _read_sorted(held_out, on_document, read)
        held_out_texts = validation.texts
        cells += validation.labels
        source["valid_documents"], source["valid_sha256"] = held_out.documents, held_out.sha256
    labels = read_labels(cells, options, on_note)
    found.labels = labels[: len(found.texts)]
    if held_out_texts is not None:
        found.valid = held_out_texts, labels[len(found.texts) :]
    found.source = source
    return found


def _options_of_texts(options: ReadOptions) -> ReadOptions:
    """Return only those options that determine which texts are read."""
    return replace(options, skip_bad=False, label_map={}, weight_column=None, label_separator=None, exclude=None)


def _options_of(names: tuple[str, ...], options: ReadOptions, splits: tuple[str, ...]) -> ReadOptions:
    """Return the options for reading unlabelled or held-out texts.

    These texts have no weights. They may be plain text, so the delimiter of the training data does not apply to them.
    """
    csv = options.format != "auto" or any(format_by_name(name) in ("csv", "tsv") for name in names)
    delimiter = options.delimiter if csv else None
    return replace(options, splits=splits, weight_column=None, delimiter=delimiter, exclude=None)


def _names(inputs: Inputs) -> tuple[str, ...]:
    return (os.fspath(inputs),) if isinstance(inputs, str | os.PathLike) else tuple(os.fspath(name) for name in inputs)


def _read_sorted(
    corpus: Corpus, on_document: Callable[[int], None], already: int = 0, *, keep_documents: bool = False
) -> TrainingTexts:
    """Read a corpus. Files with one text each are sorted by the numbers in their names: 2.txt before 10.txt.

    So a folder and an archive of this folder give the same model, and texts with nearby numbers are adjacent. Adjacent
    texts are held out together, because they often have the same subject, and the subjects of held-out texts should not
    occur in training.
    """
    labelled: list[Document] = []
    unlabelled: list[Document] = []
    documents = LabelledDocuments(corpus, _UNLABELLED)
    for document in counted(documents, on_document, already):
        (unlabelled if document.split == _UNLABELLED else labelled).append(document)
    # The digest of the labelled texts alone is recorded too, because ``evaluate`` reads only labelled texts.
    source = {"labelled_sha256": digest(labelled)} if unlabelled else {}
    if corpus.options.weight_column is not None:
        source["weights_sha256"] = digest_of_weights(row.weight for row in labelled)
    labelled.sort(key=_natural)
    unlabelled.sort(key=_natural)
    return TrainingTexts(
        [document.text for document in labelled],
        [document.label or "" for document in labelled],
        [document.text for document in unlabelled],
        weights=None if corpus.options.weight_column is None else [document.weight for document in labelled],
        source=source,
        # Like unreadable rows, texts of weight 0 are not used for training.
        left_out=documents.left_out + [document.text for document in labelled if not document.weight],
        documents=labelled if keep_documents else [],
    )


def digest_of_weights(weights: Iterable[float]) -> str:
    """Return the digest of the weights of the training texts. The digest of the texts does not cover the weights."""
    return hashlib.sha256("".join(f"{float(weight)!r}\n" for weight in weights).encode()).hexdigest()


def _natural(document: Document) -> list[tuple[int, str]]:
    """Return a key that sorts files with one text each by the numbers in their names; empty for lines and rows."""
    if document.line:
        return []
    found = re.findall(r"[0-9]+|[^0-9]+", document.source)
    numbers = [part.lstrip("0") if part[0].isdecimal() else None for part in found]
    # A number with more digits is larger. int() would reject very long numbers.
    return [
        (0, part) if number is None else (1 + len(number), number) for part, number in zip(found, numbers, strict=True)
    ]
