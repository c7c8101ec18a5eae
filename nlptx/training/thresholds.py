"""Thresholds of the labels of a model that gives texts any number of labels.

The threshold of a label is meant to maximise its F1 on new texts. There are two estimates of that threshold on the
held-out texts: the one with the highest F1, and the one with the highest F1 that is expected if the calibrated
probabilities are right, which is about half of that F1 (Lipton, Elkan & Naryanaswamy 2014, "Optimal Thresholding of
Classifiers to Maximize F1 Measure"). With few texts that have the label, the first one is mostly noise; with many it
does not need the probabilities to be right. So the threshold is their average, in which the first estimate has as much
weight as there are held-out texts with the label, and the second as much as PRIOR_TEXTS texts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Number of held-out texts with a label for which both estimates count the same.
PRIOR_TEXTS = 100.0
# Range of the thresholds. A label is never given to a text that probably does not have it by nine to one.
_LOWEST, _HIGHEST = 0.1, 0.9


def choose_thresholds(
    p: NDArray[np.float64], targets: NDArray[np.bool_], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the threshold (C,) of each label.

    Args:
        p: (texts, C) calibrated probabilities for held-out texts.
        targets: (texts, C) whether each text has each label.
        weights: (texts,) weight of each text, or None.
    """
    of_text = np.ones(len(p)) if weights is None else weights
    measured = np.array([best_threshold(p[:, c], targets[:, c], of_text) for c in range(p.shape[1])])
    expected = np.array([best_threshold(p[:, c], p[:, c], of_text) for c in range(p.shape[1])])
    texts = of_text @ targets
    return np.round((texts * measured + PRIOR_TEXTS * expected) / (texts + PRIOR_TEXTS), 4)


def best_threshold(p: NDArray[np.float64], positive: NDArray, weights: NDArray[np.float64]) -> float:
    """Return the threshold with the highest F1; 0.5 if nothing is positive.

    It lies halfway between the probabilities that it separates.

    Args:
        p: (N,) probabilities.
        positive: (N,) whether each text has the label, or the probability that it does.
        weights: (N,) weight of each text.
    """
    if not positive.any():
        return 0.5
    order = np.argsort(-p, kind="stable")
    sorted_p, hits = p[order], np.cumsum((positive * weights)[order])
    f1 = 2 * hits / (np.cumsum(weights[order]) + hits[-1])
    below = np.append(sorted_p[1:], 0)
    f1[sorted_p == below] = 0  # equal probabilities cannot be separated
    best = int(f1.argmax())
    return float(np.clip((sorted_p[best] + below[best]) / 2, _LOWEST, _HIGHEST))
