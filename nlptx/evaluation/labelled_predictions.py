"""Predictions for labelled texts, made by an nlptx model or by another program."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import Scored, score_texts
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.corpus.label_sets import read_labels, split_cells
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import first_name
from nlptx.errors import DataError
from nlptx.evaluation.label_set_report import LabelSetReport, report_sets
from nlptx.evaluation.true_labels import find_targets
from nlptx.metrics import Report, compute_report
from nlptx.runtime.workers import Workers

# Class number for a text without a prediction, such as a text for which another program answered "?".
NO_ANSWER = -1


@dataclass(frozen=True)
class LabelledPredictions:
    """True and predicted labels of N texts.

    Args:
        source: path of the model, or of the table that contains the predictions; used in messages and printed tables.
        label_names: names of the C labels.
        is_ordered: whether the labels are ordered, such as star ratings.
        documents: the N texts, with their positions in the input and the other columns of their table.
        targets: (N,) int64 true class of each text; for multi-label data, (N, C) bool, True where a text has a label.
        predicted: predictions, in the same form as ``targets``; NO_ANSWER for a text without a prediction.
        probabilities: (N, C) float64 probabilities of the labels; None if they are unknown.
        confidence: (N,) float64 probability of the prediction; None if it is unknown.
        answered: (N,) bool, False for a text without a prediction; None if every text has one.
        left_out: texts of the table rows that were left out because of reading options such as ``exclude``.
    """

    source: str
    label_names: list[str]
    is_ordered: bool
    documents: list[Document]
    targets: NDArray
    predicted: NDArray
    probabilities: NDArray[np.float64] | None
    confidence: NDArray[np.float64] | None
    answered: NDArray[np.bool_] | None = field(default=None, kw_only=True)
    left_out: Sequence[str] = field(default=(), kw_only=True)

    def __len__(self) -> int:
        return len(self.documents)

    @property
    def texts(self) -> list[str]:
        """The N texts."""
        return [document.text for document in self.documents]

    @property
    def correct(self) -> NDArray[np.bool_]:
        """Whether each prediction is correct, (N,) bool. A set of labels is correct only if it equals the true set."""
        same = np.equal(self.predicted, self.targets).reshape(len(self), -1).all(axis=1)
        return same if self.answered is None else same & self.answered

    def is_answered(self, row: int) -> bool:
        """Return whether the text with index ``row`` has a prediction."""
        return self.answered is None or bool(self.answered[row])

    @property
    def only_answered(self) -> Self:
        """These predictions, without the texts that have none."""
        return self if self.answered is None else self.take(self.answered)

    @property
    def unanswered(self) -> int:
        """Number of texts without a prediction."""
        return 0 if self.answered is None else len(self) - int(self.answered.sum())

    @property
    def unanswered_note(self) -> str:
        """How many texts have no prediction, as a note for the user; empty if every text has one."""
        missing = self.unanswered
        return f"texts without an answer (counted as wrong): {missing:,} of {len(self):,}" if missing else ""

    def take(self, rows: NDArray) -> Self:
        """Return the predictions for some texts; ``rows`` contains their indices, or a bool for each text."""
        indices = np.arange(len(self))[rows]
        return replace(
            self,
            documents=[self.documents[row] for row in indices.tolist()],
            targets=self.targets[indices],
            predicted=self.predicted[indices],
            probabilities=None if self.probabilities is None else self.probabilities[indices],
            confidence=None if self.confidence is None else self.confidence[indices],
            answered=None if self.answered is None else self.answered[indices],
        )


@dataclass(frozen=True)
class ModelPredictions(LabelledPredictions):
    """Predictions of an nlptx model, which always include probabilities.

    Args:
        known_words: (N,) int64 number of known words in each text.
    """

    probabilities: NDArray[np.float64]
    confidence: NDArray[np.float64]
    known_words: NDArray[np.int64]

    def take(self, rows: NDArray) -> Self:
        return replace(super().take(rows), known_words=self.known_words[rows])


def evaluate_predictions(predictions: LabelledPredictions) -> Report | LabelSetReport:
    """Return measures of the predictions for one or more texts.

    In a multi-label report, the thresholds of the labels are NaN, because ``predictions`` does not contain them.
    """
    given, names = predictions, predictions.label_names
    if given.targets.ndim == 2:
        unknown = [math.nan] * len(names)
        sets = given.probabilities, given.targets, given.predicted, given.confidence
        return report_sets(*sets, names, unknown, given.correct, given.answered)
    return compute_report(
        given.probabilities, given.targets, names, given.is_ordered, given.predicted, given.confidence
    )


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


def scorer(model: Model, workers: Workers) -> Callable[[list[str]], Iterator[Scored]]:
    """Return a function that predicts labels on the given workers.

    The function raises the same errors as ``scoring.score``.
    """
    return lambda texts: chain.from_iterable(score_texts(model, texts, workers, surprise=True))


def predict_labelled(
    model: Model,
    source: str,
    data: LabelledData,
    score_all: Callable[[list[str]], Iterable[Scored]],
    on_note: Callable[[str], None] = lambda note: None,
    on_scored: Callable[[str, Scored], None] = lambda where, scored: None,
) -> ModelPredictions:
    """Predict the labels of a labelled corpus.

    Args:
        model: the classifier.
        source: name of the model, for messages and tables.
        data: the labelled texts.
        score_all: function that returns the model's predictions for texts, in order; see :func:`scorer`.
        on_note: called with a note about labels that the model spells differently.
        on_scored: called with the position and the prediction of each text.

    Raises:
        LabelError: a label of the data is not a label of the model.
        ArtifactError: the model's weights are so large that a probability is not a number.
    """
    positions = [document.where for document in data.documents]
    targets = find_targets(data.labels, model, positions, on_note, data.label_map)
    rows: list[Scored] = []
    for where, scored in zip(positions, score_all([document.text for document in data.documents]), strict=True):
        on_scored(where, scored)
        rows.append(scored)
    probabilities = np.array([row.probabilities for row in rows])
    return ModelPredictions(
        source=source,
        label_names=model.label_names,
        is_ordered=model.values is not None,
        documents=data.documents,
        targets=targets,
        predicted=model.choose(probabilities),
        probabilities=probabilities,
        confidence=np.array([row.confidence for row in rows]),
        known_words=np.array([row.known_words for row in rows], np.int64),
    )
