"""Describes the result of a comparison in words, and finds texts for which the predictions differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from nlptx.evaluation.alignment import label_text, predicted_text
from nlptx.evaluation.comparison import Pair
from nlptx.evaluation.labelled_predictions import LabelledPredictions


def verdict(pair: Pair) -> str:
    """Return sentences that say whether one of two models is better."""
    gain = pair.accuracy
    bounds = f"{100 * gain.low:+.2f} to {100 * gain.high:+.2f}"
    size = f"its accuracy is {100 * abs(gain.value):.2f} points higher"
    none = f"No difference can be shown between {pair.first} and {pair.second}"
    p_value = f"p = {pair.corrected_p_value:.2g}"
    if pair.corrected_p_value != pair.p_value:
        p_value += ", corrected for the number of comparisons; the interval is not corrected"
    if pair.differs:
        better, other = (pair.second, pair.first) if gain.value > 0 else (pair.first, pair.second)
        interval = bounds if gain.value > 0 else f"{-100 * gain.high:+.2f} to {-100 * gain.low:+.2f}"
        sentence = f"{better} is better than {other}: {size} (95 % interval of the difference {interval}, {p_value})."
    elif not gain.value:
        sentence = f"{none}: both are correct equally often."
    else:
        sentence = f"{none}: the difference is {100 * gain.value:+.2f} points (95 % interval {bounds}, {p_value})."
        if pair.texts_needed is not None:
            sentence += f" To show a difference of this size, about {pair.texts_needed:,} texts are needed."
    loss = pair.log_loss
    if loss is not None and (loss.low > 0 or loss.high < 0) and round(loss.value, 4):
        lower = pair.second if loss.value < 0 else pair.first
        sentence += f" The log-loss of {lower} is lower, by {abs(loss.value):.4f} nats."
    return sentence


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
