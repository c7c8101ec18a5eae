"""Tests of stratified folds for cross-validation."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nlptx.errors import DataError, SettingsError
from nlptx.sampling.stratified_folds import grouped_folds, stratified_folds


def rng(seed=1):
    return np.random.default_rng(seed)


def table(strata, fold, folds):
    """Return the number of texts of each label in each fold, (folds, labels)."""
    return np.array([np.bincount(strata[fold == number], minlength=strata.max() + 1) for number in range(folds)])


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("folds", [2, 5, 10])
def test_each_label_is_spread_evenly(shuffle, folds):
    strata = rng().choice(4, 3000, p=[0.6, 0.3, 0.09, 0.01])
    counts = table(strata, stratified_folds(strata, folds, rng(), shuffle=shuffle), folds)
    longest_stretch = 1 if shuffle else np.maximum(np.bincount(strata) / folds / 10, 1)
    # The last stretch of a label may be shorter.
    assert (np.ptp(counts, axis=0) <= np.ceil(2 * longest_stretch - 1)).all()
    assert counts.sum() == 3000


def test_stretches_of_neighbours_stay_together_unless_shuffled():
    strata = np.repeat([0, 1], 5000)

    def changes(shuffle):
        return np.count_nonzero(np.diff(stratified_folds(strata, 5, rng(), shuffle=shuffle)))

    assert changes(False) < 110
    assert changes(True) > 7000


def test_rare_labels_do_not_all_go_to_the_first_folds():
    strata = np.repeat(np.arange(20), 3)
    for shuffle in (True, False):
        assert_array_equal(np.bincount(stratified_folds(strata, 5, rng(), shuffle=shuffle)), [12] * 5)


def test_the_seed_determines_the_folds():
    strata = rng().integers(0, 3, 500)
    one, same, other = (stratified_folds(strata, 5, rng(seed)) for seed in (1, 1, 2))
    assert_array_equal(one, same)
    assert (one != other).any()


def test_groups_are_whole_and_labels_are_spread():
    strata = rng().choice(3, 2000, p=[0.7, 0.2, 0.1])
    groups = [f"film {number}" for number in rng(2).integers(0, 150, 2000)]
    fold = grouped_folds(strata, groups, 5, rng())
    assert all(len(set(fold[np.array(groups) == name])) == 1 for name in set(groups))
    fractions = table(strata, fold, 5) / np.bincount(strata)
    assert np.abs(fractions - 0.2).max() < 0.03
    assert_array_equal(fold, grouped_folds(strata, groups, 5, rng()))


def test_groups_of_one_text_give_stratified_folds():
    strata = np.repeat([0, 1, 2], [50, 25, 10])
    counts = table(strata, grouped_folds(strata, list(map(str, range(85))), 5, rng()), 5)
    assert_array_equal(counts, np.tile([10, 5, 2], (5, 1)))


def test_groups_with_one_label_each():
    strata = np.repeat([0, 1], 40)
    groups = [str(number // 4) for number in range(80)]
    assert_array_equal(table(strata, grouped_folds(strata, groups, 5, rng()), 5), np.full((5, 2), 8))


def test_impossible_numbers_of_folds():
    with pytest.raises(DataError, match=r"3 texts for 5 folds(.|\n)*Set `folds` to 3 or less"):
        stratified_folds(np.zeros(3, int), 5, rng())
    with pytest.raises(DataError, match="1 groups for 2 folds"):
        grouped_folds(np.zeros(3, int), ["a", "a", "a"], 2, rng())
    with pytest.raises(SettingsError, match="`folds` is 1"):
        stratified_folds(np.zeros(3, int), 1, rng())
