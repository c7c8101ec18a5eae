"""The bootstrap: how much a statistic varies if the texts are drawn again (Efron 1979)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Number of resamples, and the seed with which they are drawn.
RESAMPLES, _SEED = 10_000, 1
# Maximum number of values in a block of resamples, so that the memory does not grow with the number of texts.
_BLOCK = 4_000_000
_PERCENTILES = (2.5, 97.5)


def resampled_sums(
    values: NDArray[np.float64], groups: NDArray[np.int64] | None = None, resamples: int = RESAMPLES
) -> NDArray[np.float64]:
    """Return the sums of the values of the texts in each resample, (resamples, F).

    A resample contains as many texts as the data, drawn with replacement; or as many groups, with all their texts. The
    seed is fixed, so the result is the same each time.

    Args:
        values: (texts, F) F values of each text.
        groups: (texts,) group of each text, from 0; None if the texts are independent.
        resamples: number of resamples.
    """
    if groups is not None:
        values = group_sums(values, groups)
    count = len(values)
    rng = np.random.default_rng(_SEED)
    rows = max(1, min(resamples, _BLOCK // count))
    result = np.empty((resamples, values.shape[1]))
    for start in range(0, resamples, rows):
        block = min(rows, resamples - start)
        drawn = rng.integers(0, count, (block, count), dtype=np.int32) + np.arange(block)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=block * count).reshape(block, count)
        result[start : start + block] = times.astype(np.float64) @ values
    return result


def group_sums(values: NDArray[np.float64], groups: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of the values of each group, (groups, F)."""
    result = np.zeros((int(groups.max()) + 1, values.shape[1]))
    np.add.at(result, groups, values)
    return result


def percentile_interval(samples: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic, given its value in each resample."""
    low, high = np.percentile(samples, _PERCENTILES)
    return float(low), float(high)
