"""The binomial distribution, for significance tests and for limits on error rates."""

from __future__ import annotations

import math

import numpy as np


def binomial_cdf(k: int, n: int, p: float) -> float:
    """Return P(X <= k), where X is binomial with parameters n and p, for 0 < p < 1.

    The result is the sum over i = 0, ..., k of P(X = i) = n! / (i! (n - i)!) p^i (1 - p)^(n - i). If k is at most the
    mean np, the largest term is the one for i = k, and each other term follows from its predecessor:

        P(X = i - 1) = P(X = i) i (1 - p) / ((n - i + 1) p)

    Terms more than ten standard deviations below k are too small to matter, so the time grows with the square root of
    n. If k is above the mean, 1 - P(n - X <= n - k - 1) is computed instead. SciPy has this function too, but loading
    it takes longer than scoring a text.
    """
    if k < 0 or k >= n:
        return float(k >= n)
    if k > n * p:
        return 1.0 - binomial_cdf(n - k - 1, n, 1 - p)
    largest = (
        math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
    )
    i = np.arange(k, max(k - 10 * math.isqrt(n) - 100, 0), -1)
    ratios = i * (1 - p) / ((n - i + 1) * p)
    with np.errstate(under="ignore"):
        return min(math.exp(largest) * float(1 + np.cumprod(ratios).sum()), 1.0)
