"""The bootstrap estimates how much a statistic would vary on other texts, by resampling the texts (Efron 1979)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Number of resamples, and the seed with which they are drawn. For more than _DRAWS / RESAMPLES texts or groups, the
# number is lower, so that at most _DRAWS texts or groups are drawn in total, but at least MIN_RESAMPLES.
RESAMPLES, MIN_RESAMPLES, _SEED = 10_000, 1_000, 1
_DRAWS = 500_000_000
# Maximum number of values in a block of resamples, to limit memory. A block contains at least one resample.
_BLOCK = 4_000_000
_PERCENTILES = (2.5, 97.5)


def resample(
    values: csr_matrix,
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    groups: NDArray[np.int64] | None = None,
    resamples: int | None = None,
) -> NDArray[np.float64]:
    """Return S statistics of each resample, (resamples, S).

    A resample contains as many texts as the data, drawn with replacement. If there are groups, a resample instead
    contains as many groups as the data, each with all its texts, also drawn with replacement. The seed is fixed, so the
    result is the same each time.

    Args:
        values: (texts, F) float64, F values per text.
        statistic: function that receives the sums (B, F) of the F values over the texts of each of B resamples, and
            returns the statistics (B, S) of these resamples.
        groups: (texts,) group of each text, from 0; None if the texts are independent.
        resamples: number of resamples; None to choose it by the number of texts or groups.
    """
    if groups is not None:
        values = group_matrix(groups) @ values
    count, columns = values.shape
    if resamples is None:
        resamples = max(MIN_RESAMPLES, min(RESAMPLES, _DRAWS // count))
    by_column = values.T.tocsr()
    rng = np.random.default_rng(_SEED)
    rows = max(1, min(resamples, _BLOCK // max(count, columns)))
    blocks = []
    for start in range(0, resamples, rows):
        block = min(rows, resamples - start)
        drawn = rng.integers(0, count, (block, count), dtype=np.int32) * block + np.arange(block)[:, None]
        times = np.bincount(drawn.ravel(), minlength=block * count).reshape(count, block)
        blocks.append(statistic((by_column @ times.astype(np.float64)).T))
    return np.concatenate(blocks)


def group_matrix(groups: NDArray[np.int64]) -> csr_matrix:
    """Return the matrix (groups, texts) whose product with values per text contains the sum of each group's values."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(groups))
    return csr_matrix((ones, (groups, np.arange(len(groups)))), shape=(int(groups.max()) + 1, len(groups)))


def percentile_interval(samples: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95% percentile interval of a statistic, given its value in each resample."""
    low, high = np.percentile(samples, _PERCENTILES)
    return float(low), float(high)
