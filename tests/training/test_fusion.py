"""Tests of the weights with which the outputs of separately trained classifiers are combined."""

from functools import cache

import numpy as np
from numpy.testing import assert_allclose
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.settings import TrainSettings
from nlptx.training.dataset import Examples
from nlptx.training.fusion import fuse

PRIOR = np.array([0.6, 0.35])


@cache
def trained(**settings):
    texts, labels = make_reviews(60)
    shape = TrainSettings(width=8, heads=2, batch=8, epochs=1, lsa_components=4, subwords="off", **settings)
    return nlptx.fit(texts, labels, small_embeddings(), shape, jobs=1)


def combined_weights(members, targets, weights=None):
    named = dict(zip(("one", "other"), members, strict=True))
    return fuse(trained(), named, Examples(None, targets, weights=weights), PRIOR, 0.15)[0]


def test_weights_of_the_combination():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 2, 4000)
    sign = 2 * targets - 1

    def outputs(strength):
        z = strength * sign + rng.standard_normal(len(targets)) * np.sqrt(2 * strength)
        return np.stack([-z / 2, z / 2], axis=1)

    good, useless = outputs(1.5), outputs(1e-9)
    a, b = combined_weights(np.stack([good, useless]), targets)
    assert_allclose(a, 1, atol=0.1)
    assert b < 0.6  # useless outputs say nothing about their weight, so the weight stays near its prior
    a, b = combined_weights(np.stack([good, rng.standard_normal((len(targets), 2))]), targets)
    assert (a > 0.9, b < 0.1) == (True, True)
    few = slice(0, 3)
    a, b = combined_weights(np.stack([good, useless])[:, few], targets[few])
    assert_allclose([a, b], PRIOR, atol=0.1)


def test_weights_stay_above_zero():
    targets = np.random.default_rng(0).integers(0, 2, 4000)
    wrong = 3 * np.eye(2)[1 - targets]
    assert min(combined_weights(np.stack([-wrong, wrong]), targets)) == 0.01


def test_text_weights_count_in_the_combination():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 2, 400)
    members = rng.standard_normal((2, 400, 2)) + 2 * np.eye(2)[targets]
    twice = np.concatenate([np.arange(400), np.arange(200)])
    weights = np.where(np.arange(400) < 200, 2.0, 1.0)
    by_rows = combined_weights(members[:, twice], targets[twice])
    assert_allclose(combined_weights(members, targets, weights), by_rows, atol=2e-4)


def test_without_held_out_texts_the_weights_are_the_prior_with_four_digits():
    prior = np.array([0.123456, 1.0])
    assert fuse(trained(), {}, Examples(None, np.zeros(0, int)), prior, 0.15) == ((0.1235, 1.0), {})


def test_the_record_contains_weighted_means():
    right, wrong = np.array([[0.0, 20.0]]), np.array([[20.0, 0.0]])
    examples = Examples(None, np.array([1, 1]), weights=np.array([3.0, 1.0]))
    members = {"mixed": np.concatenate([right, wrong]), "good": right.repeat(2, 0)}
    (a, b), record = fuse(trained(), members, examples, np.array([1.0, 0.5]), 1e-6)
    assert (a, b) == (1, 0.5)
    assert record == {"valid_loss": 2.50001, "mixed": 5.0, "good": 0.0, "valid_accuracy": 0.75}
