"""Tests whether two models are equally accurate on the same texts, and computes how many texts such a test needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.binomial import binomial_cdf

# Up to this number of texts, McNemar's test is computed with integers, without rounding.
_MAX_EXACT = 1000
# Number of random sign vectors, and the seed with which they are drawn.
_SAMPLES, _SEED = 10_000, 2
# Maximum number of signs in memory at the same time.
_BLOCK = 4_000_000
# Significance level of the tests, and the power that :func:`texts_needed` assumes.
LEVEL, _POWER = 0.05, 0.8


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p-value of McNemar's test (1947).

    The test uses only the texts that exactly one of the two models predicts correctly. If both models are equally good,
    each of these texts is predicted correctly by the first model with a probability of 1/2. The number of texts that
    only the first model predicts correctly is therefore binomial with parameter 1/2.

    Args:
        only_first: number of texts that only the first model predicts correctly.
        only_second: number of texts that only the second model predicts correctly.

    >>> mcnemar(2, 9)
    0.0654296875
    """
    count, fewer = only_first + only_second, min(only_first, only_second)
    if count > _MAX_EXACT:  # the integers below would take time quadratic in ``count``
        return min(1.0, 2 * binomial_cdf(fewer, count, 0.5))
    # The numbers of ways to choose exactly k (``term``) and at most k (``total``) of ``count`` texts, for k = 0 to
    # ``fewer``.
    term = total = 1
    for size in range(fewer):
        term = term * (count - size) // (size + 1)
        total += term
    return min(1.0, 2 * total / 2**count) if count else 1.0


def sign_flip_test(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of a sign-flip test (randomisation test), given one difference per group of texts.

    If both models are equally good, the sign of each difference is random. With few groups, the p-value is the fraction
    of all combinations of signs for which the sum of the differences is at least as far from 0 as the observed sum.
    Otherwise, the test draws random signs for all differences, n times. The p-value is (1 + m) / (1 + n), where m is
    the number of draws in which the sum of the differences with random signs is at least as far from 0 as the observed
    sum. With m / n instead of (1 + m) / (1 + n), the test would reject too often (Phipson and Smyth 2010). With one
    text per group, the p-value approximates that of McNemar's test.

    Args:
        differences: (groups,) number of correct predictions of the second model in each group, minus that of the first.
    """
    differences = differences[differences != 0]
    observed = abs(differences.sum())
    if not observed:
        return 1.0
    if 2 ** len(differences) <= _SAMPLES:
        every = np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences)) & 1
        return float((np.abs((every * 2.0 - 1) @ differences) >= observed - 1e-9).mean())
    rng = np.random.default_rng(_SEED)
    rows = max(1, min(_SAMPLES, _BLOCK // len(differences)))
    as_far = 0
    for start in range(0, _SAMPLES, rows):
        signs = rng.integers(0, 2, (min(rows, _SAMPLES - start), len(differences)), dtype=np.int8) * 2.0 - 1
        as_far += int((np.abs(signs @ differences) >= observed - 1e-9).sum())
    return (1 + as_far) / (1 + _SAMPLES)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for the number of tests (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    result, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        result[index] = highest
    return result


def texts_needed(discordant: float, difference: float, level: float = LEVEL) -> int | None:
    """Return how many texts are needed to show a difference in accuracy with power 0.8.

    The formula is from Connor (1987, Biometrics 43, 207-211). Let r be the fraction of discordant texts, d the
    difference, and z(p) the p-quantile of the standard normal distribution. The number of texts is ((z(1 - level / 2)
    sqrt(r) + z(power) sqrt(r - d^2)) / d)^2.

    Args:
        discordant: fraction of the texts that exactly one of the two models predicts correctly.
        difference: difference in accuracy; its absolute value is at most ``discordant``.
        level: significance level. If several pairs of models are compared, pass 0.05 divided by the number of pairs.

    Returns:
        The number of texts; None if the difference is 0.

    >>> texts_needed(0.2, 0.05)
    626
    """
    if not difference:
        return None
    normal = NormalDist()
    spread = normal.inv_cdf(1 - level / 2) * math.sqrt(discordant)
    spread += normal.inv_cdf(_POWER) * math.sqrt(max(discordant - difference**2, 0.0))
    # With fewer texts, not even a model that is always right could be shown to be better than one that never is.
    return max(math.ceil((spread / difference) ** 2), math.floor(math.log2(2 / level)) + 1)
