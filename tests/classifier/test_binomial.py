"""The binomial distribution function equals that of SciPy, and takes little memory for large numbers."""

import tracemalloc

import pytest
from scipy.special import bdtr

from nlptx.classifier.binomial import binomial_cdf


@pytest.mark.parametrize("n", [1, 20, 2583, 300_000])
@pytest.mark.parametrize("p", [0.005, 0.05, 0.5, 0.99])
def test_the_binomial_distribution_equals_that_of_scipy(n, p):
    mean = int(n * p)
    for k in {0, 1, n // 20, n // 2, mean - 1, mean, mean + 1, mean + n // 100, n - 1, n}:
        assert binomial_cdf(k, n, p) == pytest.approx(bdtr(k, n, p) if k >= 0 else 0, rel=1e-8, abs=1e-12)


def test_large_numbers_take_little_memory():
    tracemalloc.start()
    try:
        assert 0.5 < binomial_cdf(5_000_000, 10_000_000, 0.5) < 0.51
        assert tracemalloc.get_traced_memory()[1] < 5e6
    finally:
        tracemalloc.stop()
