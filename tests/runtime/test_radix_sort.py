"""The results of the radix sort of integers are compared with NumPy's stable sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlptx.runtime.radix_sort import radix_argsort


@pytest.mark.parametrize("dtype", [np.uint16, np.int32, np.int64, np.uint64])
@given(data=st.data())
def test_radix_sort_is_stable(dtype, data):
    largest = int(np.iinfo(dtype).max)
    one = st.one_of(st.integers(0, 3), st.sampled_from([largest, largest - 1, 1 << 15]), st.integers(0, largest))
    numbers = np.array(data.draw(st.lists(one, max_size=30)), dtype)
    assert radix_argsort(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()
