"""Counts and matrices computed from the ids of n-grams equal those computed from their keys."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nlptx.io.memory_budget import MemoryBudget
from nlptx.ngrams import ngram_ids, occurrences
from nlptx.ngrams.ngram_ids import ColumnIndex, count_encoded, encode_ngrams
from nlptx.ngrams.occurrences import document_frequencies, matrix_from_columns, ngrams_of_texts, presence_matrix
from nlptx.runtime.workers import Workers

RNG = np.random.default_rng(1)
TEXTS = [RNG.integers(0, 9, length).astype(np.int32) for length in RNG.integers(0, 12, 70)]


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(occurrences, "_WORDS_PER_GROUP", 40)


@pytest.fixture
def sets():
    return ngrams_of_texts(TEXTS, 3, 9)


@pytest.fixture
def keys(sets):
    return document_frequencies(sets, None)[0]


# If there are few counters, many rare n-grams share a counter.
@pytest.mark.parametrize("counters", [2, 64, 1 << 12])
@pytest.mark.parametrize("min_texts", [1, 2, 5, 100])
@pytest.mark.parametrize("step", [1, 2, 1000])
def test_counts_equal_those_of_sorted_keys(sets, keys, step, min_texts, counters, monkeypatch):
    monkeypatch.setattr(ngram_ids, "_COUNTERS", counters)
    listed = keys[1::step]
    found, seen = count_encoded(encode_ngrams(sets, listed), listed, min_texts, Workers(2))
    every, counts = document_frequencies(sets, None)
    expected = np.isin(every, listed) | (counts >= min_texts)
    assert_array_equal(found, every[expected])
    assert_array_equal(seen, counts[expected])


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize(("listed", "known"), [(1, 1), (2, 3), (3, 2), (1, 1000), (1000, 1)])
def test_columns_equal_those_found_by_key(sets, keys, listed, known, jobs):
    workers, columns = Workers(jobs), keys[::known]
    groups = encode_ngrams(sets, keys[1::listed], workers)
    rows = matrix_from_columns(groups, ColumnIndex(keys[1::listed], columns).find, len(columns), workers)
    expected = presence_matrix(sets, columns)
    assert_array_equal(rows.indptr, expected.indptr)
    assert_array_equal(rows.indices, expected.indices)
    assert_array_equal(rows.data, expected.data)


def test_temporary_files_change_nothing(sets, keys, tmp_path):
    listed = keys[::2]
    in_memory = encode_ngrams(sets, listed)
    with MemoryBudget(1, str(tmp_path)) as budget:
        for group, other in zip(encode_ngrams(sets, listed, Workers(2), budget), in_memory, strict=True):
            assert_array_equal(group.load(), other.load())
            assert_array_equal(group.load_others(), other.load_others())
            assert_array_equal(group.sizes, other.sizes)


def test_no_texts_and_no_listed_ngrams(sets, keys):
    none = np.zeros(0, np.int64)
    assert [len(part) for part in count_encoded(encode_ngrams([], none), none, 1)] == [0, 0]
    assert_array_equal(count_encoded(encode_ngrams(sets, none), none, 1)[0], keys)
