"""The expected calibration error, and the error that a perfectly calibrated model has by chance."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Number of bins into which the confidences are divided; Guo et al. (2017) use as many.
BINS = 15
# Number of simulated samples for the noise floor of the calibration error, and seed of the simulation.
_SAMPLES, _SAMPLE_SEED = 2000, 1


@dataclass(frozen=True)
class NoiseFloor:
    """The mean and the 95th percentile of the calibration error that a perfectly calibrated model has by chance."""

    mean: float
    percentile_95: float


def calibration(confidence: NDArray[np.float64] | None, correct: NDArray[np.bool_]) -> tuple[float, NoiseFloor]:
    """Return the calibration error and its noise floor; all values are NaN if ``confidence`` is None or empty."""
    if confidence is None or not len(confidence):
        return math.nan, NoiseFloor(math.nan, math.nan)
    return calibration_error(confidence, correct), calibration_noise_floor(confidence)


def calibration_error(
    confidence: NDArray[np.float64],
    correct: NDArray[np.bool_],
    bins: int = BINS,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the expected calibration error: the mean of |accuracy - mean confidence| over the bins, weighted by size.

    If ``weights`` are given, the size of a bin is the sum of the weights of its texts, and all means are weighted.
    """
    bin_of = confidence_bins(confidence, bins)
    total = float(len(confidence))
    hits: NDArray = correct
    if weights is not None:
        hits, confidence, total = correct * weights, confidence * weights, float(weights.sum())
    gaps = np.bincount(bin_of, hits, bins) - np.bincount(bin_of, confidence, bins)
    return float(np.abs(gaps).sum() / total)


def calibration_noise_floor(
    confidence: NDArray[np.float64],
    bins: int = BINS,
    repeats: float = 1,
    weights: NDArray[np.float64] | None = None,
) -> NoiseFloor:
    """Return the calibration error that a perfectly calibrated model would have with these confidences.

    The calibration error is a sum of absolute deviations, so it is above 0 by chance even for such a model. If a bin
    has n predictions with mean confidence c, the number of correct predictions is treated as binomial with parameters n
    and c, because the confidences in a bin are nearly equal; if each text has r = ``repeats`` predictions, it is r
    times a binomial number with parameters n / r and c. With ``weights`` w, n is replaced by (sum w)^2 / sum w^2, so
    that the variance of the weighted mean is right. The error is estimated from samples drawn with a fixed seed.
    """
    bin_of = confidence_bins(confidence, bins)
    weights = np.ones(len(confidence)) if weights is None else weights
    weights = np.ldexp(weights, -int(np.frexp(weights.max(initial=0))[1]))  # otherwise, the squares could underflow
    sizes, squares, expected = (np.bincount(bin_of, each, bins) for each in (weights, weights**2, weights * confidence))
    some = sizes > 0
    shares = np.clip(np.divide(expected, sizes, out=np.zeros(bins), where=some), 0, 1)
    effective = np.divide(sizes**2, squares, out=np.zeros(bins), where=some)
    texts = np.ceil(np.round(effective / repeats, 6)).astype(np.int64)  # 100.0000001 is a rounding error
    hits = np.random.default_rng(_SAMPLE_SEED).binomial(texts, shares, (_SAMPLES, bins))
    errors = np.abs(hits * sizes / np.maximum(texts, 1) - expected).sum(axis=1) / sizes.sum()
    return NoiseFloor(float(errors.mean()), float(np.quantile(errors, 0.95)))


def confidence_bins(confidence: NDArray[np.float64], bins: int) -> NDArray[np.int64]:
    """Return the index, from 0, of the bin of each confidence. Bins have equal widths; the last bin includes 1."""
    return np.minimum((confidence * bins).astype(np.int64), bins - 1)
