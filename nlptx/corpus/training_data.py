"""Training data: labelled texts, texts without labels, and held-out texts."""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from nlptx.arguments.collections import check_iterable
from nlptx.arguments.values import check_type
from nlptx.corpus.corpus import Corpus, digest_of_weights, to_bytes
from nlptx.corpus.document import Document
from nlptx.corpus.exclusion import Exclusion
from nlptx.corpus.gathered_texts import GatheredTexts, gather
from nlptx.corpus.label_sets import check_held_out, read_labels
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.natural_order import NaturalOrder
from nlptx.corpus.read_options import ReadOptions, non_default_options
from nlptx.corpus.source import first_name, format_by_name
from nlptx.errors import DataError
from nlptx.io.paths import file_name
from nlptx.runtime.progress import counted

if TYPE_CHECKING:
    from nlptx.io.memory_budget import MemoryBudget

# Splits that training reads by default if a corpus has the folders train, test and unsup. Texts in unsup need no label.
TRAINING_SPLITS = ("train", "unsup")
_UNLABELLED = "unsup"
_HELD_OUT = "test"
_OPTIONS = ReadOptions(splits=TRAINING_SPLITS)

Inputs = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass
class TrainingTexts:
    """Texts for training; pass them to :func:`nlptx.fit`.

    Args:
        texts, labels: training texts and their labels; with a ``label_separator``, the labels of each text as a tuple.
        unlabelled: texts without labels.
        valid: held-out texts and their labels, or None.
        weights: weight of each training text, or None.
        source: the number of documents and the digests of the data, to be stored as :attr:`nlptx.Model.source`.
        left_out: texts of the rows that ``skip_bad``, ``exclude`` or the label map left out, and of the rows with a
            weight of 0. Rows that could not be read are not included.
        documents: the documents of ``texts``, with the columns of their rows; empty unless requested.
        removed_labels: labels whose texts were left out, because the label map replaces these labels with nothing.
        first_rows: label, as written in the data -> position (``file:line`` or ``file``) of its first text.
        corpus: number and digest of all texts except the held-out texts, and the options with which these texts were
            read. ``nlptx cooccur`` records the same information when it counts the same inputs.
    """

    texts: Sequence[str]
    labels: list[str] | list[tuple[str, ...]]
    unlabelled: Sequence[str]
    valid: tuple[Sequence[str], list[str] | list[tuple[str, ...]]] | None = None
    weights: list[float] | None = None
    source: dict[str, Any] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    first_rows: dict[str, str] = field(default_factory=dict)
    corpus: dict[str, Any] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)
    removed_labels: set[str] = field(default_factory=set)


def read_training_data(
    data: Inputs,
    unlabelled: Inputs = (),
    valid: Inputs = (),
    options: ReadOptions = _OPTIONS,
    on_document: Callable[[int], None] = lambda documents: None,
    on_note: Callable[[str], None] = lambda note: None,
    *,
    keep_documents: bool = False,
    budget: MemoryBudget | None = None,
) -> TrainingTexts:
    r"""Read labelled texts from tables, folders or archives.

    Args:
        data: one or more paths, or ``-`` for standard input. Texts in a folder ``unsup`` need no labels.
        unlabelled: paths of texts without labels; of the folders train, test and unsup, only ``unsup`` is read.
        valid: paths of held-out texts; of the folders train, test and unsup, only ``test`` is read.
        options: options for reading; the label map and the rows to leave out apply to ``data`` and ``valid``, the
            weight column only to ``data``.
        on_document: called from time to time with the number of documents read so far.
        on_note: called with notes about the inputs.
        keep_documents: whether to return the documents too, with the columns of their rows; this needs more memory.
        budget: memory limit. Texts beyond the limit are stored in temporary files, and no text can be used after the
            budget is closed. Without a budget, the texts are lists of str.

    Raises:
        DataError, LabelError: a text cannot be read or has no label, no label of the label map occurs in the data,
            there are no texts, or a label of a held-out text does not occur in the training texts.
        SettingsError: a path does not exist, or ``delimiter`` is set for an input that is not a CSV or TSV table.
        InputTypeError, OutputError: an argument has the wrong type, or the temporary files cannot be written.

    >>> with open("films.tsv", "w") as file:
    ...     print("text\tlabel", "a good film\tpos", "a bad film\tneg", sep="\n", file=file)
    >>> data = read_training_data("films.tsv")
    >>> data.texts, data.labels
    (['a good film', 'a bad film'], ['pos', 'neg'])
    """
    check_type(options, ReadOptions, "options")
    noted: set[str] = set()
    paths = _names(data, "data")
    corpus = Corpus(paths, options, on_note, noted)
    exclusion = Exclusion.of(options)
    training = _read_sorted(corpus, on_document, budget, exclusion=exclusion, keep_documents=keep_documents)
    if not len(training.texts):
        raise DataError("there are no training texts", where=first_name(paths))
    source: dict[str, Any] = {"documents": corpus.documents, "sha256": corpus.sha256, **training.source}
    source["reading"] = non_default_options(options, TRAINING_SPLITS)
    cells, removed = list[Any](training.labels), set(training.removed_labels)
    validation: TrainingTexts | None = None
    read, sha256 = corpus.documents, corpus.copy_hash()
    if names := _names(unlabelled, "unlabelled"):
        more_options = replace(_split_options(names, options, (_UNLABELLED,)), label_separator=None, use_labels=False)
        more = Corpus(names, more_options, on_note, noted)

        def more_texts() -> Iterator[str]:
            for document in counted(more, on_document, read):
                sha256.update(to_bytes(document))
                yield document.text

        training.unlabelled = gather(chain(training.unlabelled, more_texts()), budget)
        more.note_left_out()
        read += more.documents
        source["unlabelled_documents"], source["unlabelled_sha256"] = more.documents, more.sha256
        source["texts_sha256"] = sha256.hexdigest()
    # The counts depend only on which texts are read, so options that do not change this are not recorded with them.
    counting = replace(options, skip_bad=False, label_map={}, weight_column=None, label_separator=None, exclude=None)
    training.corpus = {
        "documents": read,
        "sha256": sha256.hexdigest(),
        "reading": non_default_options(counting, TRAINING_SPLITS),
    }
    if names := _names(valid, "valid"):
        held_out = Corpus(names, _split_options(names, options, (_HELD_OUT,)), on_note, noted)
        validation = _read_sorted(held_out, on_document, budget, read, exclusion=exclusion)
        cells += validation.labels
        removed |= validation.removed_labels
        source["valid_documents"], source["valid_sha256"] = held_out.documents, held_out.sha256
    if exclusion is not None:
        on_note(exclusion.note())
    labels = read_labels(cells, options, on_note, removed=removed)
    training.labels = labels[: len(training.texts)]
    if validation is not None:
        training.valid = validation.texts, labels[len(training.texts) :]
        where = [validation.first_rows[str(cell)] for cell in validation.labels]
        check_held_out(training.valid[1], training.labels, training.weights, where)
    training.source = source
    return training


def _split_options(names: tuple[str, ...], options: ReadOptions, splits: tuple[str, ...]) -> ReadOptions:
    """Return the options for reading unlabelled or held-out texts.

    Unlabelled and held-out texts have no weights. The delimiter of the training data is ignored if the name of each
    file determines its format and none of these files is a CSV or TSV table.
    """
    csv = options.format != "auto" or any(format_by_name(name) in ("csv", "tsv") for name in names)
    delimiter = options.delimiter if csv else None
    return replace(options, splits=splits, weight_column=None, delimiter=delimiter, exclude=None)


def _names(inputs: Inputs, name: str) -> tuple[str, ...]:
    """Return the paths in ``inputs``. Raise InputTypeError, with the argument name ``name``, if the type is wrong."""
    if isinstance(inputs, str | os.PathLike):
        return (file_name(inputs),)
    paths = check_iterable(inputs, name, "paths")
    return tuple(file_name(path, f"{name}[{position}]") for position, path in enumerate(paths))


def _read_sorted(
    corpus: Corpus,
    on_document: Callable[[int], None],
    budget: MemoryBudget | None = None,
    already: int = 0,
    *,
    exclusion: Exclusion | None = None,
    keep_documents: bool = False,
) -> TrainingTexts:
    """Read a corpus. Files with one text each are sorted by the numbers in their names: 2.txt before 10.txt.

    Therefore, a folder and an archive of this folder give the same model, and texts with nearby numbers are adjacent.
    Adjacent texts are held out together, because they often have the same subject, and the subjects of held-out texts
    should not occur in training.
    """
    documents = LabelledDocuments(corpus, _UNLABELLED, exclusion)
    # Digest of the labelled texts alone, by which ``evaluate`` recognises training data.
    sha256 = hashlib.sha256()
    order, order_of_others = NaturalOrder(), NaturalOrder()
    labels: list[str] = []
    known: dict[str, str] = {}
    first_rows: dict[str, str] = {}
    weights = array("d")
    kept: list[Document] = []
    others = GatheredTexts(budget)
    empty: list[str] = []

    def labelled_texts() -> Iterator[str]:
        for document in counted(documents, on_document, already):
            if document.split == _UNLABELLED:
                order_of_others.add(document)
                others.append(document.text)
                continue
            sha256.update(to_bytes(document))
            order.add(document)
            label = document.label or ""
            labels.append(known.setdefault(label, label))  # equal labels share one str object, to save memory
            first_rows.setdefault(label, document.where)
            weights.append(document.weight)
            if not document.text.strip():
                empty.append(document.where)
            if keep_documents:
                kept.append(document)
            yield document.text

    texts = order.sorted(gather(labelled_texts(), budget))
    if empty:
        first = f"{len(empty):,} (the first is {empty[0]})"
        corpus.on_note(f"empty texts: {first}; only their labels are used; `skip_bad` leaves them out")
    unlabelled = others.texts()
    source = {"labelled_sha256": sha256.hexdigest()} if len(unlabelled) else {}
    if corpus.options.weight_column is not None:
        source["weights_sha256"] = digest_of_weights(weights)
    sorted_weights = order.sorted(weights.tolist()) if corpus.options.weight_column is not None else None
    return TrainingTexts(
        texts,
        list(order.sorted(labels)),
        order_of_others.sorted(unlabelled),
        weights=None if sorted_weights is None else list(sorted_weights),
        source=source,
        # Like unreadable rows, texts with a weight of 0 are not used for training.
        left_out=documents.left_out + [texts[row] for row, weight in enumerate(sorted_weights or ()) if not weight],
        first_rows=first_rows,
        documents=list(order.sorted(kept)),
        removed_labels=documents.removed_labels,
    )
