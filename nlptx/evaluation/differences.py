"""Finds texts for which the predictions of several models differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nlptx.evaluation.alignment import label_text, predicted_text
from nlptx.evaluation.labelled_predictions import LabelledPredictions


def only_first_correct(first: LabelledPredictions, second: LabelledPredictions, count: int) -> list[int]:
    """Return the indices of texts for which only the first model is correct, in decreasing order of its confidence.

    Args:
        first: predictions of the first model.
        second: predictions of the second model, aligned with ``first``.
        count: maximum number of texts.
    """
    rows = np.flatnonzero(first.correct & ~second.correct)
    if first.confidence is not None:
        rows = rows[np.argsort(-first.confidence[rows], kind="stable")]
    chosen: list[int] = rows[:count].tolist()
    return chosen


def examples(predictions: Sequence[LabelledPredictions], count: int) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Compare the first model with every other model, and yield texts for which only one of the two is correct.

    Args:
        predictions: aligned predictions of two or more models.
        count: maximum number of texts per yielded pair of models. If ``count`` is 0, nothing is yielded.

    Yields:
        The source of the correct predictions, the source of the wrong predictions, and a dictionary for each text:
        position, text, true label, wrong prediction, and the confidence of the correct prediction (None if unknown).
    """
    for other in predictions[1:] if count else ():
        for right, wrong in ((predictions[0], other), (other, predictions[0])):
            yield (
                right.source,
                wrong.source,
                [
                    {
                        "where": right.documents[row].where,
                        "text": right.texts[row],
                        "label": label_text(right, right.targets[row]),
                        "wrong_prediction": predicted_text(wrong, row),
                        "confidence": None if right.confidence is None else round(float(right.confidence[row]), 6),
                    }
                    for row in only_first_correct(right, wrong, count)
                ],
            )


def disagreement_columns(predictions: Sequence[LabelledPredictions]) -> list[str]:
    """Return the names of the columns of :func:`disagreements`.

    The models are numbered from 1: ``predicted_1`` is the prediction of the first model, and ``confidence_1`` its
    confidence, if known.
    """
    columns = ["where", "text", "label"]
    for number, each in enumerate(predictions, start=1):
        columns += [f"predicted_{number}"] + ([] if each.confidence is None else [f"confidence_{number}"])
    return columns


def disagreements(predictions: Sequence[LabelledPredictions], separator: str = "; ") -> Iterator[dict[str, Any]]:
    """Yield a row for each text for which the predictions differ: position, text, true label, and all predictions.

    Args:
        predictions: aligned predictions of two or more models.
        separator: string between the labels of a text.
    """
    first = predictions[0]
    for row, document in enumerate(first.documents):
        labels = [predicted_text(each, row, separator) for each in predictions]
        if len(set(labels)) == 1:
            continue
        fields: dict[str, Any] = {
            "where": document.where,
            "text": document.text,
            "label": label_text(first, first.targets[row], separator),
        }
        for number, (each, label) in enumerate(zip(predictions, labels, strict=True), start=1):
            fields[f"predicted_{number}"] = label
            if each.confidence is not None:
                fields[f"confidence_{number}"] = round(float(each.confidence[row]), 6)
        yield fields
