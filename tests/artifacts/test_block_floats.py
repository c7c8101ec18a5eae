"""Block floats: accuracy, exactness of what is already rounded, and extreme values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal

from nlptx.artifacts.block_floats import from_block_floats, rounded, to_block_floats

_BOUNDED = st.floats(-(2.0**100), 2.0**100, width=32).filter(lambda value: not 0 < abs(value) < 2.0**-80)


@given(arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=_BOUNDED))
def test_the_error_is_less_than_a_hundredth_of_the_largest_value(matrix):
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    once = rounded(matrix)
    assert (np.abs(once - matrix) <= largest / 100).all()
    assert_array_equal(rounded(once), once)
    assert once.dtype == np.float32


def test_integers_and_exponents():
    numbers, exponents = to_block_floats(np.array([[127, -64, 1], [128, 2, 0], [0, 0, 0]], np.float32))
    assert_array_equal(numbers, [[127, -64, 1], [64, 1, 0], [0, 0, 0]])
    assert_array_equal(exponents, [0, 1, 0])
    assert (numbers.dtype, exponents.dtype) == (np.int8, np.int8)
    assert_array_equal(from_block_floats(numbers, exponents), [[127, -64, 1], [128, 2, 0], [0, 0, 0]])


@pytest.mark.parametrize("value", [1e38, 1e-44])
def test_values_out_of_range_are_cut_off(value):
    largest = 127 * 2.0**100
    assert_array_equal(
        rounded(np.array([[value, -value]], np.float32)), [[largest, -largest]] if value > 1 else [[0, 0]]
    )


def test_a_matrix_without_rows_or_columns():
    assert rounded(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert rounded(np.zeros((2, 0), np.float32)).shape == (2, 0)
