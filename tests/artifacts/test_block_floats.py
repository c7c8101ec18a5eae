"""Tests of block floats, which share one exponent per block: accuracy, extreme values, and repeated rounding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.testing import assert_array_equal

from nlptx.artifacts.block_floats import from_block_floats, rounded, to_block_floats

_BOUNDED = st.floats(-(2.0**100), 2.0**100, width=32).filter(lambda value: not 0 < abs(value) < 2.0**-80)


@given(arrays(np.float32, array_shapes(max_dims=2, max_side=40), elements=_BOUNDED))
def test_the_error_is_less_than_a_hundredth_of_the_largest_value_of_the_block(array):
    once = rounded(array)
    errors, values = np.abs(once - array).ravel(), np.abs(array).ravel()
    for start in range(0, array.size, 32):
        assert errors[start : start + 32].max() <= values[start : start + 32].max() / 100
    assert_array_equal(rounded(once), once)
    assert once.dtype == np.float32


def test_integers_and_exponents():
    array = np.zeros((2, 33), np.float32)
    array[0, :3] = [127, -64, 1]
    array[0, 32], array[1, :2] = 128, [2, 0]  # the second block
    numbers, exponents = to_block_floats(array)
    assert_array_equal(exponents, [0, 1, 0])
    assert_array_equal(numbers, array // [[1] * 32 + [2], [2] * 33])
    assert (numbers.dtype, exponents.dtype) == (np.int8, np.int8)
    assert_array_equal(from_block_floats(numbers, exponents), array)


@pytest.mark.parametrize("value", [1e38, 1e-44])
def test_values_out_of_range_are_cut_off(value):
    largest = 127 * 2.0**100
    assert_array_equal(rounded(np.array([value, -value], np.float32)), [largest, -largest] if value > 1 else [0, 0])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_an_array_without_numbers(shape):
    assert rounded(np.zeros(shape, np.float32)).shape == shape
