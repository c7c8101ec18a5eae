"""Counts and occurrences of n-grams equal those that the simplest possible code finds."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nlptx.ngrams import occurrences
from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.ngrams.occurrences import (
    document_frequencies,
    ngrams_in_enough_texts,
    ngrams_of_texts,
    presence_matrix,
    sizes_of,
)
from nlptx.ngrams.sorted_keys import union_of_sorted
from nlptx.runtime.workers import Workers

RNG = np.random.default_rng(1)
TEXTS = [RNG.integers(0, 9, length).astype(np.int32) for length in RNG.integers(0, 12, 70)]


def sets_of(texts, words, order=3):
    return [set(keys[keys >= 0].tolist()) for keys in (ngram_keys(ids, order, words) for ids in texts)]


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(occurrences, "_WORDS_PER_GROUP", 40)


@pytest.mark.parametrize("jobs", [1, 2, 3])
# With a vocabulary of two million words, 63 bits cannot hold both the key of a trigram and the number of its text.
@pytest.mark.parametrize("words", [9, 2_000_000])
def test_counts_and_presence(words, jobs):
    workers = Workers(jobs)
    expected = sets_of(TEXTS, words)
    sets = ngrams_of_texts(TEXTS, 3, words, workers)
    assert len(sets) > 2
    assert sizes_of(sets).tolist() == list(map(len, expected))
    assert np.concatenate([group.keys for group in sets]).tolist() == [key for part in expected for key in sorted(part)]
    known, seen = document_frequencies(sets, None, workers)
    assert dict(zip(known.tolist(), seen.tolist(), strict=True)) == Counter(key for part in expected for key in part)
    assert_array_equal(known, np.sort(known))
    some = known[::2]
    assert_array_equal(
        presence_matrix(sets, some, workers).toarray(), [[key in part for key in some.tolist()] for part in expected]
    )


def test_weights_are_summed():
    weights = RNG.integers(0, 5, len(TEXTS)) / 2
    known, seen = document_frequencies(ngrams_of_texts(TEXTS, 2, 9), weights)
    expected = sets_of(TEXTS, 9, 2)
    for key, weight in zip(known.tolist(), seen.tolist(), strict=True):
        assert weight == sum(of_text for of_text, part in zip(weights, expected, strict=True) if key in part)


@pytest.mark.parametrize(("min_labelled", "min_total"), [(1, 3), (2, 2), (2, 6), (4, 2), (9, 40)])
def test_an_ngram_is_frequent_with_or_without_labels(min_labelled, min_total):
    labelled, unlabelled = (
        document_frequencies(ngrams_of_texts(part, 3, 9), None) for part in (TEXTS[:25], TEXTS[25:])
    )
    with_label, total = Counter(), Counter()
    for number, part in enumerate(sets_of(TEXTS, 9)):
        total.update(part)
        with_label.update(part if number < 25 else ())
    expected = {key: n for key, n in total.items() if with_label[key] >= min_labelled or n >= min_total}
    keys, seen = ngrams_in_enough_texts(labelled, unlabelled, min_labelled, min_total)
    assert keys.tolist() == sorted(expected)
    assert seen.tolist() == [expected[key] for key in sorted(expected)]


def test_no_texts_have_no_ngrams():
    for sets in (ngrams_of_texts([], 3, 9), ngrams_of_texts([np.zeros(0, np.int32)] * 3, 3, 9)):
        known, seen = document_frequencies(sets, None)
        assert (len(known), len(seen)) == (0, 0)
        assert presence_matrix(sets, np.array([1, 2]), Workers(2)).shape == (sizes_of(sets).size, 2)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1, 5], []), ([], [1, 5]), ([1, 5], [0, 1, 2, 5, 9])])
def test_union_of_sorted_keys(first, second):
    union = union_of_sorted(np.array(first, np.int64), np.array(second, np.int64))
    assert union.tolist() == sorted({*first, *second})
