"""Reads the labelled texts on which models are tested."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.corpus.label_sets import read_labels, split_cells
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import first_name
from nlptx.errors import DataError


@dataclass(frozen=True)
class LabelledData:
    """A labelled corpus.

    Args:
        documents: the documents, without those in ``left_out``.
        labels: their labels.
        sha256: SHA-256 of the corpus.
        left_out: texts of the documents that were left out because of reading options such as ``exclude``.
        label_map: label map that was applied to the labels.
        replaced: labels that the label map replaced.
    """

    documents: list[Document]
    labels: list[str] | list[tuple[str, ...]]
    sha256: str
    left_out: Sequence[str] = ()
    label_map: Mapping[str, str] = field(default_factory=dict)
    replaced: Collection[str] = ()

    @property
    def label_tuples(self) -> list[tuple[str, ...]]:
        """The labels of each document, as a tuple, which has one element if the data is single-label."""
        return [(label,) if isinstance(label, str) else label for label in self.labels]


def read_labelled(
    paths: Sequence[str],
    reading: ReadOptions,
    on_note: Callable[[str], None] = lambda note: None,
    *,
    check_map: bool = True,
) -> LabelledData:
    """Read all documents of a labelled corpus, and replace labels according to the label map of ``reading``.

    Args:
        paths: files, folders and archives.
        reading: options for reading.
        on_note: called with notes about the inputs.
        check_map: whether to check that the labels to replace occur in the corpus; pass False if the label map may
            concern only the labels in a table of predictions.

    Raises:
        DataError: there is no text, a text has no label, or the corpus cannot be read.
    """
    corpus = Corpus(paths, reading, on_note)
    labelled = LabelledDocuments(corpus)
    documents = list(labelled)
    if not documents:
        raise DataError("there is nothing to evaluate: no text was found", where=first_name(paths))
    cells = [document.label or "" for document in documents]
    labels = read_labels(cells, reading, on_note, removed=labelled.removed_labels, check_map=check_map)
    separator = reading.label_separator
    written = set(cells) if separator is None else set(chain.from_iterable(split_cells(cells, separator)))
    replaced = (written & reading.label_map.keys()) | labelled.removed_labels
    return LabelledData(documents, labels, corpus.sha256, labelled.left_out, reading.label_map, replaced)
