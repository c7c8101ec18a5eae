"""Accuracy as a function of coverage, the fraction of the texts that get a label.

The texts with the highest confidence are labelled first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

# Minimum and maximum number of digits after the decimal point of a threshold.
_MIN_DIGITS, _MAX_DIGITS = 4, 17


class CoveragePoint(NamedTuple):
    """The result of labelling only the texts whose confidence is at least a given value.

    Args:
        coverage: fraction of the texts that get a label.
        confidence: lowest confidence of the texts that get a label.
        accuracy: fraction of the assigned labels that are correct.
        texts: number of texts that get a label.
    """

    coverage: float
    confidence: float
    accuracy: float
    texts: int


@dataclass(frozen=True)
class CoverageCurve:
    """Accuracy at every coverage.

    Args:
        confidence: (N,) confidence of each text, descending.
        accuracy: (N,) accuracy on the first text, on the first two texts, and so on. Texts that have the same
            confidence all contribute their mean accuracy, so the order of these texts does not matter.
    """

    confidence: NDArray[np.float64]
    accuracy: NDArray[np.float64]

    @classmethod
    def of(cls, confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> Self:
        """Build the curve from one or more predictions.

        Args:
            confidence: (N,) confidence of each prediction.
            correct: (N,) whether each prediction is correct.
        """
        values, group, sizes = np.unique(-confidence, return_inverse=True, return_counts=True)
        mean = np.bincount(group, correct) / sizes
        hits = np.cumsum(np.repeat(mean, sizes))
        return cls(np.repeat(-values, sizes), hits / np.arange(1, len(confidence) + 1))

    @property
    def aurc(self) -> float:
        """Area under the risk-coverage curve: the mean error rate (1 - accuracy) over all coverages."""
        return float(1 - self.accuracy.mean())

    def at(self, coverage: float) -> CoveragePoint:
        """Return the result of labelling only the texts with the highest confidence.

        ``coverage`` is the fraction of the texts to label. If other texts have the same confidence as the last labelled
        text, they are labelled too.
        """
        count = max(math.ceil(round(coverage * len(self.confidence), 6)), 1)
        confidence = float(self.confidence[count - 1])
        texts = int((self.confidence >= confidence).sum())
        return CoveragePoint(texts / len(self.confidence), confidence, float(self.accuracy[texts - 1]), texts)

    def threshold(self, point: CoveragePoint) -> str:
        """Return, in decimal notation, a confidence threshold that selects exactly the texts labelled at ``point``.

        The threshold is the confidence of the point, rounded down to four digits after the decimal point. If this
        threshold would also select other texts, more digits are kept.
        """
        below = float(self.confidence[point.texts]) if point.texts < len(self.confidence) else -math.inf
        for digits in range(_MIN_DIGITS, _MAX_DIGITS + 1):
            rounded = Decimal(repr(point.confidence)).quantize(Decimal(10) ** -digits, ROUND_FLOOR)
            if float(rounded) > below:
                return f"{rounded:f}"
        return repr(point.confidence)

    def table(self) -> list[CoveragePoint]:
        """Return the points at coverages of 100%, 90%, ..., 10%, without duplicates."""
        return list(dict.fromkeys(self.at(tenths / 10) for tenths in range(10, 0, -1)))
