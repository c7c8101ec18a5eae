"""Tests of arrays in memory that a process shares with its forked children."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nlptx.runtime.shared_memory import shared_copy, shared_zeros


@pytest.mark.parametrize("shape", [3, (2, 5), (0,), (4, 0)])
def test_shared_arrays_behave_like_ordinary_arrays(shape):
    array = shared_zeros(shape, np.float32)
    assert_array_equal(array, np.zeros(shape, np.float32))
    array += 1
    copy = shared_copy(array)
    array += 1
    assert_array_equal(copy, np.ones(shape, np.float32))
    assert copy.dtype == np.float32


def test_an_array_that_is_too_large_is_a_memory_error():
    with pytest.raises(MemoryError, match="no room for"):
        shared_zeros((1 << 40, 1 << 7), np.float64)
