"""The quality of multi-label predictions, where a text may have any number of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.decision import MultiLabelDecision
from nlptx.metrics import (
    ClassReport,
    NoiseFloor,
    calibration,
    log_loss,
    precision_recall_f1,
    roc_auc,
    wilson_interval,
)


@dataclass(frozen=True)
class LabelReport(ClassReport):
    """Quality of the predictions of one label. The label is predicted if its probability is at least ``threshold``."""

    threshold: float


@dataclass(frozen=True)
class LabelSetReport:
    """Quality of multi-label predictions. Measures that need probabilities are NaN if no probabilities are given.

    Args:
        texts: number of texts.
        accuracy: subset accuracy, the fraction of the texts whose predicted set equals the true set.
        interval: 95% Wilson interval of the accuracy.
        micro_precision, micro_recall, micro_f1: precision, recall and F1 over all pairs of a text and a label.
        macro_f1: mean F1 of the labels that occur among the true labels.
        auc: mean ROC-AUC of the labels for which it is defined: those that some texts have and some texts lack.
        log_loss: sum of the log-losses of all labels, averaged over the texts, in nats. If p is the predicted
            probability of a label, its log-loss is -log p for a text with the label, and -log(1 - p) otherwise.
        ece: expected calibration error of the confidence, which is the probability that the predicted set is the true
            set.
        ece_floor: calibration error that a perfectly calibrated model with the same confidences has by chance.
        labels_per_text, predicted_per_text: mean numbers of true and predicted labels per text.
        classes: one report per label.
    """

    texts: int
    accuracy: float
    interval: tuple[float, float]
    micro_precision: float
    micro_recall: float
    micro_f1: float
    macro_f1: float
    auc: float
    log_loss: float
    ece: float
    ece_floor: NoiseFloor
    labels_per_text: float
    predicted_per_text: float
    classes: list[LabelReport]

    def __repr__(self) -> str:
        return (
            f"<LabelSetReport: {self.texts:,} texts, micro-F1 {self.micro_f1:.4f}, macro-F1 {self.macro_f1:.4f},"
            f" subset accuracy {self.accuracy:.2%}>"
        )


def evaluate_sets(
    probabilities: NDArray[np.float64], targets: NDArray[np.bool_], labels: Sequence[Any], decision: MultiLabelDecision
) -> LabelSetReport:
    """Compare predictions with the true labels of one or more texts.

    Args:
        probabilities: (texts, C) probability of each label.
        targets: (texts, C), True where a text has a label.
        labels: the C labels.
        decision: decision rule, with the threshold of each label.
    """
    predicted = decision.choose(probabilities)
    confidence = decision.confidence(probabilities, predicted)
    correct = decision.correct(predicted, targets)
    return report_sets(probabilities, targets, predicted, confidence, labels, decision.thresholds.tolist(), correct)


def report_sets(
    probabilities: NDArray[np.float64] | None,
    targets: NDArray[np.bool_],
    predicted: NDArray[np.bool_],
    confidence: NDArray[np.float64] | None,
    labels: Sequence[Any],
    thresholds: Sequence[float],
    correct: NDArray[np.bool_],
    answered: NDArray[np.bool_] | None = None,
) -> LabelSetReport:
    """Compare predicted sets of labels with the true labels of one or more texts.

    Args:
        probabilities: (texts, C) probability of each label; None if the probabilities are unknown.
        targets: (texts, C), True where a text has a label.
        predicted: (texts, C) whether each label is predicted.
        confidence: (texts,) probability that the predicted set is the true set; None if it is unknown.
        labels: the C labels.
        thresholds: threshold of each label; NaN if it is unknown.
        correct: (texts,) whether the predicted set equals the true set; False for a text without a prediction.
        answered: (texts,) whether each text has a prediction; None if all texts have one. The calibration error leaves
            out texts without a prediction.
    """
    hits, chosen, true = (predicted & targets).sum(axis=0), predicted.sum(axis=0), targets.sum(axis=0)
    classes = [
        LabelReport(
            label,
            *precision_recall_f1(int(hits[c]), int(chosen[c]), int(true[c])),
            math.nan if probabilities is None else roc_auc(probabilities[:, c], targets[:, c]),
            int(true[c]),
            thresholds[c],
        )
        for c, label in enumerate(labels)
    ]
    with_texts = [row.f1 for row in classes if row.texts]
    defined = [row.auc for row in classes if not math.isnan(row.auc)]
    precision, recall, f1 = precision_recall_f1(int(hits.sum()), int(chosen.sum()), int(true.sum()))
    rows = np.ones(len(targets), bool) if answered is None else answered
    ece, ece_floor = calibration(None if confidence is None else confidence[rows], correct[rows])
    return LabelSetReport(
        texts=len(targets),
        accuracy=float(correct.mean()),
        interval=wilson_interval(int(correct.sum()), len(targets)),
        micro_precision=precision,
        micro_recall=recall,
        micro_f1=f1,
        macro_f1=float(np.mean(with_texts)) if with_texts else 0.0,
        auc=float(np.mean(defined)) if defined else math.nan,
        log_loss=math.nan if probabilities is None else log_loss(probabilities, targets),
        ece=ece,
        ece_floor=ece_floor,
        labels_per_text=float(targets.sum(axis=1).mean()),
        predicted_per_text=float(predicted.sum(axis=1).mean()),
        classes=classes,
    )
