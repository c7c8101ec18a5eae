"""Predictions for labelled texts, made by an nlptx model or by another program."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import Scored, score_texts
from nlptx.corpus.corpus import digest
from nlptx.corpus.document import Document
from nlptx.evaluation.label_set_report import LabelSetReport, report_sets
from nlptx.evaluation.labelled_data import LabelledData
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

    def as_data(self, label_map: Mapping[str, str]) -> LabelledData:
        """Return the texts and their true labels; ``label_map`` is the label map that was applied to the labels."""
        names, targets = self.label_names, self.targets
        labels: list[Any] = (
            [names[target] for target in targets.tolist()]
            if targets.ndim == 1
            else [tuple(name for name, has in zip(names, row, strict=True) if has) for row in targets.tolist()]
        )
        return LabelledData(self.documents, labels, digest(self.documents), self.left_out, label_map)

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
