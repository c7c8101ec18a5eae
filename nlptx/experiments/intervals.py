"""Confidence intervals for the results of cross-validation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nlptx.runtime.blas import load_blas


class Spread(NamedTuple):
    """Mean and standard deviation of a measure over all folds and seeds, and the 95% interval of the mean."""

    mean: float
    std: float
    low: float
    high: float


def corrected_interval(values: Sequence[float], folds: int, high: float = math.inf) -> Spread:
    """Return the mean of a measure over folds and seeds, with its corrected 95% interval.

    The J results (one per fold and seed) are not independent, because the training sets overlap. The variance of their
    mean is therefore larger than S² / J, the value that an ordinary t interval assumes; S² is the variance of the
    results. For k folds, the corrected variance is (1 / J + 1 / (k - 1)) S², where 1 / (k - 1) is the size of a test
    set divided by that of a training set. The interval uses Student's t distribution with J - 1 degrees of freedom.

    Source: Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52, 2003. For several seeds,
    see Bouckaert and Frank, "Evaluating the replicability of significance tests", PAKDD 2004.

    Args:
        values: the measure for each fold and seed, at least two values.
        folds: number of folds k.
        high: largest possible value of the measure. The interval is clipped to values from 0 to ``high``.
    """
    load_blas("scipy.special", threads=1)
    from scipy.special import stdtrit

    count = len(values)
    mean, std = float(np.mean(values)), float(np.std(values, ddof=1))
    half_width = float(stdtrit(count - 1, 0.975)) * std * math.sqrt(1 / count + 1 / (folds - 1))
    return Spread(mean, std, max(0.0, mean - half_width), min(high, mean + half_width))
