"""Decisions: how probabilities become labels, for single-label and for multi-label models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.label_types import Label

# Two ratios of probability to prior are treated as equal if their relative difference is at most this value.
_ROUNDING = 1e-9

# A predicted label, or a list of predicted labels.
Answer = Label | list[Label]


class Decision(Protocol):
    """Defines how probabilities become predictions, and how confidence and correctness are computed.

    Probabilities are (B, C), for B texts and C classes. Predictions of a single-label model are (B,) int64: the class
    index of each text. Predictions of a multi-label model are (B, C) bool: True for each class that a text gets.
    """

    def normalized(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``p`` (B, C), with each row scaled to sum to 1 if the model is single-label."""

    def choose(self, p: NDArray[np.float64]) -> NDArray:
        """Return the predictions for probabilities (B, C)."""

    def confidence(self, p: NDArray[np.float64], chosen: NDArray) -> NDArray[np.float64]:
        """Return the probability (B,) that each prediction is correct."""

    def correct(self, chosen: NDArray, targets: NDArray) -> NDArray[np.bool_]:
        """Return (B,) bool: whether each prediction equals its target. Targets have the same form as predictions."""

    def classes(self, chosen: NDArray) -> list[tuple[int, ...]]:
        """Return the predicted classes of each text, in ascending order."""

    def preferences(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the preference for each class, (B, C), given probabilities (B, C).

        The preference is the ratio of the probability to the threshold of the class (multi-label) or to its prior
        (single-label, balanced), or otherwise the probability itself. A single-label model predicts
        the class with the largest preference.
        """

    def answer(self, labels: Sequence[Label], classes: Sequence[int]) -> Answer:
        """Return the label or labels of a text, given all C labels and the predicted classes of the text."""


@dataclass(frozen=True)
class SingleLabelDecision:
    """Decision of a single-label model: each text gets one label, and the probabilities of a text sum to 1.

    By default, the predicted class is the most probable one, which maximises accuracy. A balanced decision predicts the
    class with the largest ratio of probability to prior, which maximises mean recall, as if all classes were equally
    frequent; if several classes have the same largest ratio, the most probable of them is chosen.

    Args:
        priors: (C,) fraction of the training texts with each label; if the texts have weights, fraction of the total
            weight.
        balanced: whether the ratio of probability to prior decides.
    """

    priors: NDArray[np.float64]
    balanced: bool

    def normalized(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        return p / p.sum(axis=1, keepdims=True)

    def choose(self, p: NDArray[np.float64]) -> NDArray[np.int64]:
        return self.preferences(p).argmax(axis=1)

    def preferences(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self.balanced:
            return p
        ratios = p / self.priors
        largest = ratios.max(axis=1, keepdims=True)
        # Rounding errors must not decide between classes whose ratios should be equal. The most probable of these
        # classes is preferred, so its ratio is raised slightly.
        chosen = np.where(ratios >= largest * (1 - _ROUNDING), p, 0).argmax(axis=1)
        ratios[np.arange(len(p)), chosen] = largest[:, 0] * (1 + _ROUNDING)
        return ratios

    def confidence(self, p: NDArray[np.float64], chosen: NDArray) -> NDArray[np.float64]:
        return p[np.arange(len(p)), chosen]

    def correct(self, chosen: NDArray, targets: NDArray) -> NDArray[np.bool_]:
        return chosen == targets

    def classes(self, chosen: NDArray) -> list[tuple[int, ...]]:
        return [(number,) for number in chosen.tolist()]

    def answer(self, labels: Sequence[Label], classes: Sequence[int]) -> Answer:
        return labels[classes[0]]


@dataclass(frozen=True)
class MultiLabelDecision:
    """Decision of a multi-label model: a text gets any number of labels, each of which has a separate threshold.

    A text gets each label whose probability is at least the threshold of that label. The confidence is the probability
    that the true labels are exactly the predicted ones, assuming that labels are independent given the text. If p is
    the probability of a label, the confidence is the product of p over the predicted labels and of 1 - p over the other
    labels.

    Args:
        separator: string between the labels in a table cell.
        thresholds: (C,) float64 thresholds, between 0 and 1.
    """

    separator: str
    thresholds: NDArray[np.float64]

    def normalized(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        return p

    def choose(self, p: NDArray[np.float64]) -> NDArray[np.bool_]:
        return p >= self.thresholds

    def confidence(self, p: NDArray[np.float64], chosen: NDArray) -> NDArray[np.float64]:
        return np.where(chosen, p, 1 - p).prod(axis=1)

    def correct(self, chosen: NDArray, targets: NDArray) -> NDArray[np.bool_]:
        return (chosen == targets).all(axis=1)

    def classes(self, chosen: NDArray) -> list[tuple[int, ...]]:
        return [tuple(np.flatnonzero(row).tolist()) for row in chosen]

    def preferences(self, p: NDArray[np.float64]) -> NDArray[np.float64]:
        return p / self.thresholds

    def answer(self, labels: Sequence[Label], classes: Sequence[int]) -> Answer:
        return [labels[number] for number in classes]
