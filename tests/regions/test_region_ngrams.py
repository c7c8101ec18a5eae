"""The n-grams of regions are compared with those that plain loops find."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nlptx.regions import RegionNgrams, frequent_ngrams
from nlptx.runtime.workers import Workers

WORDS = 7
# Maximum number of words, and maximum number of longer n-grams.
ALL = (100, 1000)


@pytest.fixture(autouse=True)
def few_occurrences(monkeypatch):
    monkeypatch.setattr(frequent_ngrams, "_MIN_COUNT", 2)


def some_texts(count=30, longest=12, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, WORDS, rng.integers(1, longest + 1)).astype(np.int32) for _ in range(count)]


def key_of(words, starts_text=False):
    key = WORDS + 1 if starts_text else 0
    for word in words:
        key = key * (WORDS + 2) + word + 1
    return key


def test_words_come_first_and_rare_ngrams_are_left_out():
    texts = some_texts()
    ngrams, counts = RegionNgrams.count(texts, WORDS, *ALL)
    every = np.concatenate(texts)
    assert_array_equal(counts, np.bincount(every, minlength=WORDS))
    assert_array_equal(ngrams.keys[: ngrams.single], np.arange(1, WORDS + 1))
    pairs = [key_of(ids[at : at + 2]) for ids in texts for at in range(len(ids) - 1)]
    expected = {key for key in pairs if pairs.count(key) >= 2}
    # Keys of pairs of words; pairs that contain the start of the text are left out.
    found = {int(key) for key in ngrams.keys[ngrams.single :] if (WORDS + 2) <= key < (WORDS + 1) * (WORDS + 2)}
    assert found == expected


@pytest.mark.parametrize("most", [1, 5, 20, 60])
def test_the_most_frequent_pairs_and_triples_are_those_that_plain_loops_count(most):
    texts = some_texts(200)
    ngrams, _ = RegionNgrams.count(texts, WORDS, 100, most)
    counts = Counter()
    for ids in texts:
        for end in range(len(ids)):
            for length in (2, 3):
                if length <= end + 1:
                    counts[key_of(ids[end + 1 - length : end + 1])] += 1
                elif length == end + 2:
                    counts[key_of(ids[: end + 1], starts_text=True)] += 1
    expected = sorted(counts, key=lambda key: (-counts[key], key))[:most]
    assert_array_equal(ngrams.keys[ngrams.single :], sorted(key for key in expected if counts[key] >= 2))


def test_counting_in_several_groups_changes_nothing(monkeypatch):
    texts = some_texts()
    at_once = RegionNgrams.count(texts, WORDS, *ALL)[0].keys
    monkeypatch.setattr(frequent_ngrams, "_WORDS_PER_GROUP", 10)
    assert_array_equal(RegionNgrams.count(texts, WORDS, *ALL)[0].keys, at_once)
    with Workers(2) as workers:
        assert_array_equal(RegionNgrams.count(texts, WORDS, *ALL, workers)[0].keys, at_once)


def test_a_limited_memory_loses_only_rare_ngrams(monkeypatch):
    frequent = [0, 1, 2]
    texts = [ids for rare in some_texts(60, 8, seed=1) for ids in (np.array(frequent, np.int32), rare)]
    monkeypatch.setattr(frequent_ngrams, "_WORDS_PER_GROUP", 10)
    complete, _ = RegionNgrams.count(texts, WORDS, 100, 3)
    everything = set(RegionNgrams.count(texts, WORDS, *ALL)[0].keys.tolist())
    monkeypatch.setattr(frequent_ngrams, "_MAX_COUNTED", 20)
    limited, _ = RegionNgrams.count(texts, WORDS, 100, 3)
    assert_array_equal(limited.keys, complete.keys)
    fewer = set(RegionNgrams.count(texts, WORDS, *ALL)[0].keys.tolist())
    assert fewer < everything
    assert key_of(frequent) in fewer


def test_the_counts_of_pairs_and_of_triples_are_limited(monkeypatch):
    sizes = {}
    original = frequent_ngrams._without_rarest

    def without_rarest(counts):
        kept = original(counts.copy())
        sizes.setdefault(kept.shape[0] == WORDS + 2, []).append((counts.nnz, kept.nnz))
        return kept

    monkeypatch.setattr(frequent_ngrams, "_without_rarest", without_rarest)
    monkeypatch.setattr(frequent_ngrams, "_MAX_COUNTED", 30)
    monkeypatch.setattr(frequent_ngrams, "_WORDS_PER_GROUP", 50)
    RegionNgrams.count(some_texts(100), WORDS, *ALL)
    for of_kind in (sizes[True], sizes[False]):  # matrices of pairs, then of triples
        assert max(before for before, _ in of_kind) > 30 >= max(after for _, after in of_kind)


def test_only_the_most_frequent_words_are_kept():
    ngrams, counts = RegionNgrams.count(some_texts(), WORDS, 2, 1000)
    assert_array_equal(np.sort(ngrams.keys[:2] - 1), np.sort(np.argsort(-counts, kind="stable")[:2]))
    assert ngrams.single == 2


def test_only_the_most_frequent_longer_ngrams_are_kept():
    texts = [np.array(ids, np.int32) for ids in ([0, 1], [2, 0, 1], [2, 1, 0, 1], [3, 2, 1])]
    ngrams, _ = RegionNgrams.count(texts, WORDS, 100, 1)
    assert_array_equal(ngrams.keys[ngrams.single :], [key_of([0, 1])])


def test_regions_contain_the_ngrams_around_a_position_and_no_others():
    texts = some_texts(8)
    ngrams, _ = RegionNgrams.count(texts * 2, WORDS, *ALL)
    index = {int(key): column for column, key in enumerate(ngrams.keys)}
    lengths = np.array([len(ids) for ids in texts])
    found = ngrams.find(np.concatenate(texts), lengths)
    # With an identity matrix as the table, the sums are the numbers of occurrences.
    around = ngrams.sums_around(np.eye(len(ngrams)), found, lengths)
    bags = ngrams.bags(found, lengths)
    row = 0
    for ids in texts:
        for position in range(len(ids)):
            bag, region = np.zeros(ngrams.single), np.zeros(len(ngrams))
            for word in ids[position : position + 3]:
                bag[word] += 1
            for start in range(position - 2, position + 3):
                for end in range(start, position + 3):
                    words = ids[max(start, 0) : end + 1]
                    if end - start > 2 or end >= len(ids) or start < -1 or end < 0:
                        continue
                    column = index.get(key_of(words, starts_text=start == -1))
                    if column is not None:
                        region[column] += 1
            assert_array_equal(np.bincount(bags[row], minlength=ngrams.single)[: ngrams.single], bag)
            assert_array_equal(around[row], region)
            row += 1


def test_unknown_words_are_in_no_region():
    ngrams = RegionNgrams(np.array([1, 3]), WORDS)  # the keys of the words 0 and 2
    ids, lengths = np.array([0, 1, 2]), np.array([3])
    found = ngrams.find(ids, lengths)
    assert_array_equal(ngrams.sums_around(np.eye(2), found, lengths), [[1, 1]] * 3)
    assert_array_equal(ngrams.bags(found, lengths), [[0, 2, 1], [2, 1, 2], [1, 2, 2]])
