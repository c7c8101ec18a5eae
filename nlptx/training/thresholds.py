"""Thresholds of the labels of a model that gives texts any number of labels.

For each label, the threshold is the one with the highest F1 on the held-out texts. Of few texts with a label, this one
would be mostly noise. So it is averaged with a common threshold, the one with the highest F1 over all labels together
(micro-F1), where the common threshold counts as much as PRIOR_TEXTS texts with the label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Number of held-out texts with a label for which its own threshold counts as much as the common one.
PRIOR_TEXTS = 20.0
# Range of the thresholds.
_LOWEST, _HIGHEST = 0.01, 0.99


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
    common = best_threshold(p.ravel(), targets.ravel(), np.repeat(of_text, p.shape[1]))
    own = np.array([best_threshold(p[:, c], targets[:, c], of_text) for c in range(p.shape[1])])
    texts = of_text @ targets
    return np.round((texts * own + PRIOR_TEXTS * common) / (texts + PRIOR_TEXTS), 4)


def best_threshold(p: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.float64]) -> float:
    """Return the threshold with the highest F1; 0.5 if nothing is positive.

    It lies halfway between the probabilities that it separates. All arguments have the shape (N,).
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
