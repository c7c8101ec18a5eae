"""Chooses the label thresholds of a multi-label model.

The threshold of a label is meant to maximise the F1 of the label on new texts. The held-out texts give two estimates of
the best threshold. The first estimate is the threshold with the highest F1 on the held-out texts. The second estimate
is the threshold with the highest expected F1 (approximated by the ratio of the expected counts), assuming that the
calibrated probabilities are right. The second estimate is about half of the highest expected F1 (Lipton, Elkan &
Naryanaswamy 2014, "Optimal Thresholding of Classifiers to Maximize F1 Measure"). If only a few texts have the label,
the first estimate is mostly noise. If many texts have the label, the first estimate is better, because it does not
assume that the probabilities are right. The threshold is therefore the weighted mean of both estimates: the weight of
the first is the number of held-out texts with the label, and the weight of the second is PRIOR_TEXTS.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# If this many held-out texts have a label, the two estimates of the label's threshold have equal weights.
PRIOR_TEXTS = 100.0
# Range of the thresholds. A text never gets a label whose probability is below the smallest threshold.
_MIN_THRESHOLD, _MAX_THRESHOLD = 0.1, 0.9


def choose_thresholds(
    p: NDArray[np.float64], targets: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the threshold (C,) of each label.

    Args:
        p: (texts, C) calibrated probabilities for held-out texts.
        targets: (texts, C) bool, whether each text has each label.
        weights: (texts,) weight of each text, or None.
    """
    of_text = np.ones(len(p)) if weights is None else weights
    measured = np.array([best_threshold(p[:, c], targets[:, c], of_text) for c in range(p.shape[1])])
    expected = np.array([best_threshold(p[:, c], p[:, c], of_text) for c in range(p.shape[1])])
    texts = of_text @ targets
    return np.round((texts * measured + PRIOR_TEXTS * expected) / (texts + PRIOR_TEXTS), 4)


def best_threshold(p: NDArray[np.float64], positive: NDArray, weights: NDArray[np.float64]) -> float:
    """Return the threshold with the highest F1, or 0.5 if no text has the label.

    The threshold is the midpoint of two consecutive values of ``p`` (or of the smallest value and 0), clipped to the
    range of the thresholds.

    Args:
        p: (texts,) probabilities.
        positive: (texts,) bool, whether each text has the label; or float, the probability that each text has the label
            (the highest expected F1 then determines the threshold).
        weights: (texts,) weight of each text.
    """
    if not positive.any():
        return 0.5
    order = np.argsort(-p, kind="stable")
    sorted_p, hits = p[order], np.cumsum((positive * weights)[order])
    f1 = 2 * hits / (np.cumsum(weights[order]) + hits[-1])
    below = np.append(sorted_p[1:], 0)
    f1[sorted_p == below] = 0  # no threshold lies between equal probabilities
    best = int(f1.argmax())
    return float(np.clip((sorted_p[best] + below[best]) / 2, _MIN_THRESHOLD, _MAX_THRESHOLD))
