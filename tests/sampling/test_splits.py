"""Splits keep consecutive texts together."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nlptx.sampling.splits import assign_folds, stratified_split


def runs(parts):
    return 1 + np.count_nonzero(np.diff(parts))


@pytest.mark.parametrize("parts", [2, 5])
@pytest.mark.parametrize("count", [0, 1, 7, 100, 20_000])
def test_parts_are_about_equally_large(count, parts):
    folds = assign_folds(count, parts, np.random.default_rng(1))
    assert folds.shape == (count,)
    sizes = np.bincount(folds, minlength=parts)
    assert len(sizes) == parts
    assert np.ptp(sizes) <= max(1, min(100, count // parts // 5))


def test_consecutive_texts_stay_together():
    folds = assign_folds(20_000, 5, np.random.default_rng(1))
    assert 150 < runs(folds) <= 200  # about 100 texts each
    assert_array_equal(folds, assign_folds(20_000, 5, np.random.default_rng(1)))
    assert (folds != assign_folds(20_000, 5, np.random.default_rng(2))).any()


def test_held_out_texts_are_consecutive_too():
    targets = np.repeat([0, 1], 5000)
    train, held_out = stratified_split(targets, 0.1, np.random.default_rng(1))
    assert_array_equal(np.sort(np.concatenate([train, held_out])), np.arange(10_000))
    assert_array_equal(np.bincount(targets[held_out]), [500, 500])
    flags = np.zeros(10_000, bool)
    flags[held_out] = True
    assert runs(flags) < 50


def test_in_a_small_corpus_single_texts_are_held_out():
    targets = np.repeat([0, 1], 20)
    parts = [stratified_split(targets, 0.25, np.random.default_rng(seed))[1] for seed in range(30)]
    assert all(len(part) == 10 for part in parts)
    assert max(runs(np.isin(np.arange(40), part)) for part in parts) > 8
