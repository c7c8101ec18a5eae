"""Tests of the pairwise sum of arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlptx.pca.pairwise_sum import pairwise_sum


class Symbol:
    """A symbolic number, whose sums show the order of the additions."""

    def __init__(self, text):
        self.text = text

    def __iadd__(self, other):
        return Symbol(f"({self.text}+{other.text})")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("a", "a"),
        ("ab", "(a+b)"),
        ("abc", "((a+b)+c)"),
        ("abcd", "((a+b)+(c+d))"),
        ("abcdefg", "(((a+b)+(c+d))+((e+f)+g))"),
    ],
)
def test_the_order_depends_only_on_the_number(names, expected):
    assert pairwise_sum(map(Symbol, names)).text == expected


@settings(max_examples=50)
@given(st.integers(1, 70))
def test_sums_of_integers_are_exact(count):
    arrays = np.random.default_rng(count).integers(0, 100, (count, 2, 3))
    assert np.array_equal(pairwise_sum(array.copy() for array in arrays), arrays.sum(axis=0))


def test_few_arrays_are_in_memory_at_a_time():
    alive = set()

    class Counted(np.ndarray):
        def __del__(self):
            alive.discard(id(self))

    max_alive = 0

    def arrays():
        nonlocal max_alive
        for _ in range(1000):
            array = np.zeros(3).view(Counted)
            alive.add(id(array))
            max_alive = max(max_alive, len(alive))
            yield array
            del array

    pairwise_sum(arrays())
    assert max_alive <= 11


def test_rounding_errors_stay_small():
    arrays = [np.full(1, 0.1, np.float32) for _ in range(100_000)]
    assert pairwise_sum(arrays)[0] == pytest.approx(10_000, rel=1e-6)
