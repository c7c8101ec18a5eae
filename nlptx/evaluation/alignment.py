"""Aligns the predictions of several models, so that they have the same order of texts and the same class numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.prediction_columns import NO_LABEL
from nlptx.errors import LabelError, quoted
from nlptx.evaluation.label_spellings import match_labels
from nlptx.evaluation.label_union import note_spellings, unite_labels
from nlptx.evaluation.labelled_predictions import NO_ANSWER, LabelledPredictions
from nlptx.evaluation.text_matching import match_rows


def align(
    predictions: Sequence[LabelledPredictions], on_note: Callable[[str], None] = lambda note: None
) -> list[LabelledPredictions]:
    """Return the predictions of all models with the texts in the same order and the classes numbered in the same way.

    The order of the texts is taken from the first of the models that have the most rows of predictions. The predictions
    of a model may have several rows per text, one for each seed; the rows of the other models are then repeated until
    all models have the same number of rows.

    Args:
        predictions: predictions of each model for the same labelled texts.
        on_note: called with a note about labels that some models spell differently.

    Raises:
        DataError: the texts differ, or the number of seeds of some model does not divide the largest number of seeds.
        LabelError: the true labels of a text differ between the predictions, or some of the predictions are
            single-label and others multi-label.
    """
    check_same_kind((each.source, each.targets.ndim == 2) for each in predictions)
    first = max(predictions, key=len)
    ordered = []
    for other in predictions:
        if other.documents is first.documents:
            ordered.append(other)
            continue
        labels, sources = (_true_labels(other), _true_labels(first)), (other.source, first.source)
        ordered.append(other.take(np.array(match_rows(other.documents, first.documents, labels, sources))))
    spellings, names = _common_labels(ordered, first.label_names, on_note)
    is_ordered = all(other.is_ordered for other in ordered)
    result = [
        replace(_renumbered(each, names, spelling), is_ordered=is_ordered)
        for each, spelling in zip(ordered, spellings, strict=True)
    ]
    for other, before in zip(result[1:], ordered[1:], strict=True):
        _check_same_targets(result[0], other, before)
    return [replace(other, documents=first.documents) for other in result]


def check_same_kind(models: Iterable[tuple[str, bool]]) -> None:
    """Raise LabelError if some models are multi-label and others are not.

    Args:
        models: name of each model, and whether it is multi-label.
    """
    listed = list(models)
    for name, kind in listed[1:]:
        if kind is not listed[0][1]:
            raise LabelError(
                f"of {listed[0][0]} and {name}, one is single-label and the other is multi-label",
                hint="Compare predictions of the same kind. For multi-label tables, set `label_separator`.",
            )


def _common_labels(
    predictions: Sequence[LabelledPredictions], names: list[str], on_note: Callable[[str], None]
) -> tuple[list[dict[str, str]], list[str]]:
    """Return, for each model, the common spelling of each of its labels; and all labels in the common spelling.

    The spelling is that of ``names`` or, if some model's labels do not match ``names``, of the first model whose labels
    are matched by those of all models. If there is no such model, the labels that match no label of ``names`` are added
    to ``names``.
    """
    lists = [each.label_names for each in predictions]
    for known in [names, *lists]:
        spellings = [spelling for labels in lists if (spelling := match_labels(labels, known)) is not None]
        if len(spellings) == len(lists):
            for each, spelling in zip(predictions, spellings, strict=True):
                note_spellings(spelling, each.source, on_note)
            return spellings, known
    others = [name for labels in lists for name in labels]
    spelling, names, _ = unite_labels(names, others, "labels", on_note)
    return [spelling] * len(lists), names


def _true_labels(predictions: LabelledPredictions) -> list[str]:
    return [label_text(predictions, row).casefold() for row in predictions.targets]


def label_text(predictions: LabelledPredictions, row: NDArray | int, separator: str = "; ") -> str:
    """Return the label of a text as a str; ``?`` means no answer.

    Args:
        predictions: the predictions that contain the names of the classes.
        row: class of the text, or its set of classes as (C,) bool.
        separator: string between the labels of a text.
    """
    if np.ndim(row):
        return separator.join(name for name, has in zip(predictions.label_names, np.asarray(row), strict=True) if has)
    return NO_LABEL if row == NO_ANSWER else predictions.label_names[int(row)]


def predicted_text(predictions: LabelledPredictions, row: int, separator: str = "; ") -> str:
    """Return the prediction for the text with index ``row`` as a str, as :func:`label_text` does."""
    if not predictions.is_answered(row):
        return NO_LABEL
    return label_text(predictions, predictions.predicted[row], separator)


def _renumbered(
    predictions: LabelledPredictions, names: Sequence[str], spelling: dict[str, str]
) -> LabelledPredictions:
    """Return the predictions with classes numbered by their index in ``names``; ``spelling`` maps labels to names."""
    columns = np.array([names.index(spelling[name]) for name in predictions.label_names], np.int64)
    if columns.tolist() == list(range(len(names))):
        return replace(predictions, label_names=list(names))

    def spread(values: NDArray) -> NDArray:
        result = np.zeros((len(predictions), len(names)), values.dtype)
        result[:, columns] = values
        return result

    def classes(values: NDArray) -> NDArray:
        return spread(values) if values.ndim == 2 else np.where(values == NO_ANSWER, NO_ANSWER, columns[values])

    return replace(
        predictions,
        label_names=list(names),
        targets=classes(predictions.targets),
        predicted=classes(predictions.predicted),
        probabilities=None if predictions.probabilities is None else spread(predictions.probabilities),
    )


def _check_same_targets(first: LabelledPredictions, other: LabelledPredictions, before: LabelledPredictions) -> None:
    differ = (first.targets != other.targets).reshape(len(first), -1).any(axis=1)
    if not differ.any():
        return
    row = int(differ.argmax())
    raise LabelError(
        f"the text {quoted(first.texts[row])} has the label {label_text(other, other.targets[row])!r} here,"
        f" but {label_text(first, first.targets[row])!r} in {first.documents[row].where}",
        where=before.documents[row].where,
        hint="Predictions can be compared only if the true labels of the texts are the same.",
    )
