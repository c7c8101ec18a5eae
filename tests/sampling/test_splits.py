"""Splits keep consecutive texts together."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nlptx.sampling.splits import assign_folds, stratified_split


def count_stretches(parts):
    return 1 + np.count_nonzero(np.diff(parts))


@pytest.mark.parametrize("parts", [2, 5])
@pytest.mark.parametrize("count", [0, 1, 7, 100, 20_000])
def test_parts_are_about_equally_large(count, parts):
    targets = np.random.default_rng(2).integers(0, 3, count)
    folds = assign_folds(targets, parts, np.random.default_rng(1))
    assert folds.shape == (count,)
    sizes = np.bincount(folds, minlength=parts)
    assert len(sizes) == parts
    assert np.ptp(sizes) <= max(1, min(100, count // parts // 5))


def test_consecutive_texts_stay_together():
    targets = np.random.default_rng(2).integers(0, 3, 20_000)
    folds = assign_folds(targets, 5, np.random.default_rng(1))
    assert 130 < count_stretches(folds) <= 200  # stretches of about 100 texts
    assert_array_equal(folds, assign_folds(targets, 5, np.random.default_rng(1)))
    assert (folds != assign_folds(targets, 5, np.random.default_rng(2))).any()


@pytest.mark.parametrize("parts", [2, 5])
def test_labels_are_spread_evenly_even_if_the_texts_are_sorted(parts):
    targets = np.repeat([0, 1, 2], [1300, 700, 2000])
    two_stretches = 2 * min(100, 4000 // parts // 10)
    for given in (targets, targets[:, None] == [0, 1, 2]):
        folds = assign_folds(given, parts, np.random.default_rng(1))
        for label in range(3):
            assert np.ptp(np.bincount(folds[targets == label], minlength=parts)) <= two_stretches


@pytest.mark.parametrize(("rare", "others", "parts"), [(20, 1480, 5), (100, 12_000, 2), (200, 50_000, 5), (3, 1000, 5)])
def test_a_rare_label_is_spread_over_the_folds_of_sorted_texts(rare, others, parts):
    targets = np.repeat([0, 1, 2], [others // 2, others // 2, rare])
    for given in (targets, targets[:, None] == [0, 1, 2]):
        folds = assign_folds(given, parts, np.random.default_rng(1))
        assert np.ptp(np.bincount(folds[targets == 2], minlength=parts)) <= 1


def test_texts_without_a_label_can_be_assigned():
    assert_array_equal(np.bincount(assign_folds(np.zeros((40, 3), bool), 4, np.random.default_rng(1))), [10] * 4)


def test_held_out_texts_are_consecutive_too():
    targets = np.repeat([0, 1], 5000)
    train, held_out = stratified_split(targets, 0.1, np.random.default_rng(1))
    assert_array_equal(np.sort(np.concatenate([train, held_out])), np.arange(10_000))
    assert_array_equal(np.bincount(targets[held_out]), [500, 500])
    flags = np.zeros(10_000, bool)
    flags[held_out] = True
    assert count_stretches(flags) < 50


def test_in_a_small_corpus_single_texts_are_held_out():
    targets = np.repeat([0, 1], 20)
    parts = [stratified_split(targets, 0.25, np.random.default_rng(seed))[1] for seed in range(30)]
    assert all(len(part) == 10 for part in parts)
    assert max(count_stretches(np.isin(np.arange(40), part)) for part in parts) > 8


def test_dividing_the_texts_of_a_label_empties_no_fold():
    # All texts have the first label, and every two texts share another label, which no other text has. One of the five
    # folds gets two of the six texts. If the label that these two share were divided, the fold would become empty.
    pairs = [np.isin(np.arange(6), pair) for pair in combinations(range(6), 2)]
    targets = np.stack([np.ones(6, bool), *pairs], axis=1)
    for seed in range(200):
        folds = assign_folds(targets, 5, np.random.default_rng(seed))
        assert set(folds.tolist()) == set(range(5))
