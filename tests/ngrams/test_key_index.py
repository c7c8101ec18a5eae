"""The index of known keys returns the same results as a dictionary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from nlptx.ngrams.key_index import KeyIndex
from nlptx.runtime.hashing import MULTIPLIER

# A key is multiplied by a constant, and the high bits of the product select its slot. With a bad constant, consecutive
# numbers and multiples of powers of two would often share a slot.
KEYS = st.one_of(
    st.integers(0, 300), st.integers(0, 60).map(lambda number: number << 54), st.integers(0, (1 << 63) - 1)
)


@given(st.sets(KEYS, max_size=80), st.lists(KEYS | st.just(-1), min_size=1, max_size=80))
def test_known_keys_have_their_index_and_others_the_number_of_keys(known, asked):
    known = sorted(known)
    place = {key: number for number, key in enumerate(known)}
    expected = [place.get(key, len(known)) for key in asked]
    index = KeyIndex(np.array(known, np.int64))
    for _ in range(9):  # the first results come from binary search, later ones from the hash table
        assert_array_equal(index.find(np.array(asked, np.int64)), expected)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 1000])
def test_the_result_has_the_shape_of_the_query(count):
    index = KeyIndex(np.arange(count, dtype=np.int64) * 7)
    for _ in range(2):
        assert index.find(np.zeros((4, 3), np.int64)).tolist() == [[0] * 3] * 4
        assert index.find(np.zeros((0, 3), np.int64)).shape == (0, 3)


def test_a_full_cluster_of_slots_is_searched_to_its_end():
    keys = np.arange(50_000, dtype=np.int64) ** 2
    index = KeyIndex(keys)
    assert_array_equal(index.find(keys), np.arange(50_000))
    assert_array_equal(index.find(keys[2:] + 1), 50_000)


def test_keys_that_all_have_the_same_hash_are_searched_without_a_table():
    inverse = pow(int(MULTIPLIER), -1, 1 << 64)
    products = (number * inverse % (1 << 64) for number in range(1, 4000))
    keys = np.array(sorted(key for key in products if key < 1 << 63), np.int64)
    index = KeyIndex(keys)
    for _ in range(3):
        assert_array_equal(index.find(keys), np.arange(len(keys)))
    assert index._slots is None
