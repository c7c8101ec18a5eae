"""The report on predictions: accuracy, F1, ROC-AUC, log-loss and calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.metrics.ece import NoiseFloor, calibration

_Z95 = 1.959963984540054


@dataclass(frozen=True)
class ClassReport:
    """How well the predictions separate the texts of one class from all other texts.

    ``auc`` is the ROC-AUC, NaN if it is undefined. ``texts`` is the number of texts whose true class is this class.
    """

    label: Any
    precision: float
    recall: float
    f1: float
    auc: float
    texts: int


@dataclass(frozen=True)
class Report:
    """The quality of predictions. Measures that need probabilities are NaN if no probabilities are given.

    Args:
        texts: number of texts.
        accuracy: fraction of the texts whose predicted label is the true label.
        interval: 95% Wilson interval of the accuracy; see :mod:`nlptx.evaluation.dependent_rows` for dependent rows.
        majority: accuracy of always predicting the most frequent label.
        balanced_accuracy: mean recall of the classes that occur among the true labels.
        macro_f1: mean F1 of the classes that occur among the true labels.
        auc: ROC-AUC; for more than two classes, the mean over the classes, each against the others (where defined).
        log_loss: mean of -log P(true label), in nats.
        ece: expected calibration error of the confidence (the probability of the predicted label).
        ece_floor: calibration error that a perfectly calibrated model with the same confidences has by chance.
        mean_absolute_error: mean distance between the predicted and the true label, in positions of the label order;
            None for unordered labels. Texts without a predicted label are left out.
        classes: one report per label.
        confusion: (C, C) number of texts by true label (row) and predicted label (column). Texts without a predicted
            label are left out.
    """

    texts: int
    accuracy: float
    interval: tuple[float, float]
    majority: float
    balanced_accuracy: float
    macro_f1: float
    auc: float
    log_loss: float
    ece: float
    ece_floor: NoiseFloor
    mean_absolute_error: float | None
    classes: list[ClassReport]
    confusion: NDArray[np.int64]

    def __repr__(self) -> str:
        loss = "" if math.isnan(self.log_loss) else f", log-loss {self.log_loss:.4f}"
        return f"<Report: {self.texts:,} text{'s' * (self.texts != 1)}, accuracy {self.accuracy:.2%}{loss}>"


def compute_report(
    probabilities: NDArray[np.float64] | None,
    targets: NDArray[np.int64],
    labels: Sequence[Any],
    ordered: bool,
    predicted: NDArray[np.int64] | None = None,
    confidence: NDArray[np.float64] | None = None,
) -> Report:
    """Return the quality of the predictions for one or more texts.

    Args:
        probabilities: (texts, C) probability of each class; None if only the predicted classes are known.
        targets: (texts,) true class of each text.
        labels: the C labels.
        ordered: whether the labels are ordered, such as star ratings.
        predicted: (texts,) predicted class of each text, -1 if there is none; the most probable class by default.
            Required if ``probabilities`` is None.
        confidence: (texts,) probability of the predicted class, 0 if none is predicted; default: ``probabilities``.
    """
    if probabilities is not None and predicted is None:
        predicted = probabilities.argmax(axis=1)
    if predicted is None:
        raise ValueError("neither probabilities nor predicted classes are given")
    if probabilities is not None and confidence is None:
        confidence = np.where(predicted < 0, 0.0, probabilities[np.arange(len(targets)), predicted])
    correct = predicted == targets
    hits = int(correct.sum())
    answered = predicted >= 0
    confusion = confusion_matrix(targets[answered], predicted[answered], len(labels))
    classes = [
        ClassReport(
            label,
            *precision_recall_f1(int(confusion[c, c]), int(confusion[:, c].sum()), int((targets == c).sum())),
            math.nan if probabilities is None else roc_auc(probabilities[:, c], targets == c),
            int((targets == c).sum()),
        )
        for c, label in enumerate(labels)
    ]
    present = [row for row in classes if row.texts]
    defined = [row.auc for row in classes if not math.isnan(row.auc)]
    steps = np.abs(predicted - targets)[answered]
    ece, ece_floor = calibration(None if confidence is None else confidence[answered], correct[answered])
    return Report(
        texts=len(targets),
        accuracy=hits / len(targets),
        interval=wilson_interval(hits, len(targets)),
        majority=float(np.bincount(targets).max() / len(targets)),
        balanced_accuracy=float(np.mean([row.recall for row in present])),
        macro_f1=float(np.mean([row.f1 for row in present])),
        auc=float(np.mean(defined)) if defined else math.nan,
        log_loss=math.nan if probabilities is None else log_loss(probabilities, targets),
        ece=ece,
        ece_floor=ece_floor,
        mean_absolute_error=(float(steps.mean()) if len(steps) else math.nan) if ordered else None,
        classes=classes,
        confusion=confusion,
    )


def precision_recall_f1(hits: int, predicted: int, true: int) -> tuple[float, float, float]:
    """Return precision, recall and F1 (0 if undefined), given the numbers of correct, predicted and true instances."""
    precision = hits / predicted if predicted else 0.0
    recall = hits / true if true else 0.0
    return precision, recall, 2 * hits / (predicted + true) if predicted + true else 0.0


def confusion_matrix(targets: NDArray[np.int64], predicted: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Count texts by true class (row) and predicted class (column)."""
    cells = targets * classes + predicted
    return np.bincount(cells, minlength=classes**2).reshape(classes, classes)


def roc_auc(scores: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """Return the probability that a positive text scores higher than a negative text, with ties counting half.

    For P positives and N negatives, this is the Mann-Whitney statistic divided by P N:
    (sum of r over the positives - P (P + 1) / 2) / (P N), where r is a text's rank by score. NaN if P or N is 0.
    """
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        return math.nan
    _, value_of, texts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(texts) - (texts - 1) / 2  # mean rank of the texts with the same score
    return float((ranks[value_of[positive]].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def log_loss(probabilities: NDArray[np.float64], targets: NDArray, weights: NDArray[np.float64] | None = None) -> float:
    """Return the (weighted) mean of -log P(target).

    Args:
        probabilities: (texts, C) probability of each class.
        targets: (texts,) class of each text; or, for multi-label data, (texts, C) bool, True where a text has a class.
            For multi-label data, log P(target) is the sum of log p over the classes of the text, plus the sum of
            log(1 - p) over the other classes.
        weights: (texts,) weight of each text, or None.

    Probabilities (for multi-label data, both p and 1 - p) are clipped to at least 2^-53, because smaller values of
    1 - p cannot be told apart from 0. So a text contributes at most 53 log 2 = 36.7 nats, per label for multi-label
    data.
    """
    return float(np.average(log_losses(probabilities, targets), weights=weights))


def log_losses(probabilities: NDArray[np.float64], targets: NDArray) -> NDArray[np.float64]:
    """Return -log P(target) of each text, (texts,); see :func:`log_loss`."""
    rows = np.arange(len(targets))
    p = np.where(targets, probabilities, 1 - probabilities) if targets.ndim == 2 else probabilities[rows, targets, None]
    return -np.log(np.maximum(p, np.finfo(np.float64).epsneg)).sum(axis=1)


def wilson_interval(hits: float, count: float) -> tuple[float, float]:
    """Return the 95% confidence interval of the proportion ``hits / count`` (Wilson 1927)."""
    share = hits / count
    middle = share + _Z95**2 / (2 * count)
    spread = _Z95 * math.sqrt(share * (1 - share) / count + _Z95**2 / (4 * count**2))
    scale = 1 + _Z95**2 / count
    low, high = (middle - spread) / scale, (middle + spread) / scale
    return (low if hits else 0.0), (high if hits < count else 1.0)
