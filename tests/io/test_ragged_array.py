"""A ragged array holds the same arrays whether its entries are in memory or in a temporary file."""

import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from nlptx.io import ragged_array
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.runtime.workers import Workers

RNG = np.random.default_rng(3)
ARRAYS = [RNG.integers(0, 99, length).astype(np.int32) for length in RNG.integers(0, 9, 50)]


def collected(arrays, budget, at_once=7):
    groups = [arrays[start : start + at_once] for start in range(0, len(arrays), at_once)]
    parts = ((np.concatenate(group), np.array(list(map(len, group)))) for group in groups)
    return RaggedArray.collected(parts, np.int32, budget)


def same(found, expected):
    found = list(found)
    assert len(found) == len(expected)
    for actual, array in zip(found, expected, strict=True):
        assert actual.dtype == array.dtype
        assert_array_equal(actual, array)


@pytest.fixture(params=[1, 1 << 30], ids=["file", "memory"])
def ragged(request, monkeypatch):
    monkeypatch.setattr(ragged_array, "_ARRAYS_PER_READ", 6)
    monkeypatch.setattr(ragged_array, "_SMALL", 8)
    with MemoryBudget(request.param) as budget:
        yield collected(ARRAYS, budget)


def test_arrays_and_selections(ragged):
    same(ragged, ARRAYS)
    same([ragged[row] for row in range(-3, 50)], [ARRAYS[row] for row in range(-3, 50)])
    same(ragged[5:40:3], ARRAYS[5:40:3])
    chosen = np.array([44, 2, 2, 30, 0])
    same(ragged.take(chosen), [ARRAYS[row] for row in chosen])
    same(ragged.take(ragged.lengths > 4), [array for array in ARRAYS if len(array) > 4])
    same(ragged[10:].take(chosen[:4] // 2)[1:], [ARRAYS[10 + row] for row in chosen[1:4] // 2])
    assert ragged.lengths.tolist() == list(map(len, ARRAYS))


def test_parts_of_arrays_can_be_appended(ragged):
    longest = np.argsort(ragged.lengths)[-2:]
    more = ragged.with_parts(longest, np.array([1, 2]), np.array([3, 2]))
    same(more, [*ARRAYS, ARRAYS[longest[0]][1:4], ARRAYS[longest[1]][2:4]])


def test_the_last_entries_of_each_array(ragged):
    kept = np.flatnonzero(ragged.lengths >= 3)[::-1]
    assert_array_equal(ragged.take(kept).last_entries(2), [ARRAYS[row][-2:] for row in kept])


def test_the_entries_have_the_given_dtype():
    assert RaggedArray.of([np.arange(3), np.arange(2)], np.int32)[1].dtype == np.int32


def test_a_pickle_contains_the_arrays(ragged):
    content = pickle.dumps(ragged[3:9])
    assert content == pickle.dumps(RaggedArray.of(ARRAYS[3:9], np.int32))
    same(pickle.loads(content), ARRAYS[3:9])


@pytest.mark.parametrize("processes", [False, True])
def test_workers_read_at_the_same_time(ragged, processes):
    with Workers(3, processes=processes) as workers:
        sums = list(workers.map(lambda row: int(ragged[row].sum()), range(50), isolated=processes))
    assert sums == [int(array.sum()) for array in ARRAYS]


@given(st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=12), st.integers(0, 40), st.integers(1, 5))
def test_any_arrays_with_any_limit(lists, memory, at_once):
    arrays = [np.array(numbers, np.int32) for numbers in lists]
    with MemoryBudget(16 * memory) as budget:
        same(collected(arrays, budget, at_once), arrays)


@given(st.lists(st.integers(0, 6), max_size=9), st.data())
def test_parts_of_a_growing_array_in_memory_and_in_a_file(sizes, data):
    with MemoryBudget() as budget:
        arrays = [budget.growing_array(np.int64, memory) for memory in (0, 1 << 20)]
        expected = np.arange(sum(sizes))
        for part in np.split(expected, np.cumsum(sizes)[:-1]) if sizes else []:
            for array in arrays:
                array.append(part)
        start = data.draw(st.integers(0, len(expected)))
        stop = data.draw(st.integers(start, len(expected)))
        for array in arrays:
            assert_array_equal(array.read(start, stop), expected[start:stop])


def test_the_file_is_closed_with_the_budget():
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    with MemoryBudget(1) as budget:
        collected(ARRAYS, budget)
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before
