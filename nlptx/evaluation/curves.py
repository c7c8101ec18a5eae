"""Curves of a classifier: ROC, precision-recall, and reliability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.metrics import BINS, confidence_bins, roc_auc, wilson_interval
from nlptx.nn.activations import logit

# Approximate maximum number of points per curve. More points would make no visible difference in a figure.
MAX_POINTS = 200


@dataclass(frozen=True)
class RankingCurves:
    """ROC curve and precision-recall curve of one label against all others. The score is the label's probability.

    Args:
        roc: (false positive rate, true positive rate) for decreasing thresholds.
        precision_recall: (recall, precision) for decreasing thresholds.
        area: area under the ROC curve (ROC-AUC), computed from all points of the curve, not only those in ``roc``.
        average_precision: mean precision over all thresholds, weighted by the increase in recall at each
            threshold.
        prevalence: fraction of the texts that have the label, which is also the precision of random scores.
    """

    roc: list[tuple[float, float]]
    precision_recall: list[tuple[float, float]]
    area: float
    average_precision: float
    prevalence: float


def ranking_curves(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> RankingCurves | None:
    """Return the curves for a score, or None if all texts are positive or all are negative.

    Args:
        scores: (texts,) scores, higher for texts that are more likely to be positive.
        positive: (texts,) whether each text is positive.
    """
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return None
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)  # index of the last text with each score
    hits = np.cumsum(positive[order])[last]
    recall, precision = hits / positives, hits / (last + 1)
    false_rate = (last + 1 - hits) / negatives
    average = float((np.diff(recall, prepend=0) * precision).sum())
    roc = _thinned(np.append(0, false_rate), np.append(0, recall))
    area = roc_auc(scores, positive)
    return RankingCurves(roc, _thinned(recall, precision), area, average, positives / len(scores))


def _thinned(x: NDArray, y: NDArray) -> list[tuple[float, float]]:
    """Return about MAX_POINTS points, spread evenly along a curve, including the first and the last point."""
    along = np.append(0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    wanted = np.linspace(0, along[-1], MAX_POINTS)
    rows = np.unique(np.append(np.searchsorted(along, wanted), [0, len(x) - 1]).clip(max=len(x) - 1))
    return list(zip(x[rows].tolist(), y[rows].tolist(), strict=True))


@dataclass(frozen=True)
class ReliabilityBin:
    """The texts whose confidence lies in one bin.

    Args:
        low, high: bounds of the confidence.
        texts: number of texts.
        confidence: mean confidence.
        accuracy: fraction of the texts whose prediction is correct.
        interval: 95% Wilson interval of the accuracy.
    """

    low: float
    high: float
    texts: int
    confidence: float
    accuracy: float
    interval: tuple[float, float]


def reliability(confidence: NDArray[np.float64], correct: NDArray[np.bool_], bins: int = BINS) -> list[ReliabilityBin]:
    """Return the accuracy in each confidence bin. Bins have equal width; bins without texts are left out.

    Args:
        confidence: (texts,) confidence of each prediction.
        correct: (texts,) whether each prediction is correct.
        bins: number of bins.
    """
    bin_of = confidence_bins(confidence, bins)
    filled = []
    for number in np.unique(bin_of).tolist():
        members = bin_of == number
        texts, hits = int(members.sum()), int(correct[members].sum())
        mean = float(confidence[members].mean())
        interval = wilson_interval(hits, texts)
        filled.append(ReliabilityBin(number / bins, (number + 1) / bins, texts, mean, hits / texts, interval))
    return filled


def without_temperature(
    model: Model, probabilities: NDArray[np.float64], known: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the probabilities (texts, C) that the model would predict if its temperature were 1.

    Args:
        model: the classifier.
        probabilities: (texts, C) probabilities that the model predicted.
        known: (texts,) whether each text has a known word. The temperature applies only to texts with a known word.
    """
    loss = model.network.loss
    if loss.independent:
        outputs = logit(probabilities)
    else:
        logs = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
        outputs = logs[:, 1:] - logs[:, :1] if loss.outputs == 1 else logs
    raw = model.as_probabilities(outputs * model.temperature)
    return np.where(known[:, None], raw, probabilities)
