"""Weights of texts: a text of weight 2 counts as two identical texts, and a text of weight 0 is ignored."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_embeddings
from steps import make_context, untrained

import nlptx
from nlptx.errors import DataError, InputTypeError
from nlptx.metrics import calibration_error, log_loss
from nlptx.ngrams import cross_fit
from nlptx.ngrams.cross_fit import FeatureSettings, fit_ngram_features
from nlptx.ngrams.logistic_regression import fit_dense
from nlptx.ngrams.lsa import find_components
from nlptx.ngrams.naive_bayes import log_count_ratios
from nlptx.nn import CrossEntropy, Gradients
from nlptx.runtime.workers import SERIAL
from nlptx.settings import TrainSettings
from nlptx.training.baseline import compare_with_baselines
from nlptx.training.batching import cut_microbatches
from nlptx.training.calibration import find_temperature
from nlptx.training.dataset import Examples, make_dataset
from nlptx.training.encoding import encode
from nlptx.training.fingerprint import Fingerprint
from nlptx.training.labelled_texts import LabelledTexts
from nlptx.training.loss import loss_and_gradients, validate
from nlptx.training.sample_weights import list_weights, scaled_to_mean_one, weight_notes

WHOLE = TrainSettings(ngrams=0, width=0, valid_share=0.0)


def doubling(count, seed=1):
    """Return weights of 1 or 2 for ``count`` texts, and row numbers in which texts of weight 2 occur twice."""
    weights = np.random.default_rng(seed).integers(1, 3, count).astype(float)
    return weights, np.repeat(np.arange(count), weights.astype(int))


both = pytest.mark.parametrize("classes", [2, 3])


# ---------------------------------------------------------------- n-gram features


@both
def test_log_count_ratios(classes):
    rng = np.random.default_rng(2)
    present, targets = rng.random((30, 50)) < 0.2, rng.integers(0, classes, 30)
    weights, twice = doubling(30)

    def counts(rows, weights):
        chosen = [(targets[rows] == c) for c in range(classes)]
        return np.stack([(present[rows] * weights[:, None])[one].sum(axis=0) for one in chosen], axis=1)

    weighted = log_count_ratios(counts(np.arange(30), weights), 3)
    assert weighted.any()
    assert_array_equal(weighted, log_count_ratios(counts(twice, np.ones(len(twice))), 3))


@both
def test_regression_on_components(classes):
    rng = np.random.default_rng(3)
    features, targets = rng.normal(size=(40, 5)).astype(np.float32), rng.integers(0, classes, 40)
    weights, twice = doubling(40)
    width = 1 if classes == 2 else classes
    weighted = fit_dense(features, targets, width, weights)
    for ours, theirs in zip(weighted, fit_dense(features[twice], targets[twice], width), strict=True):
        assert_allclose(ours, theirs, atol=1e-4)  # L-BFGS stops at about this distance from the minimum
    assert not np.allclose(weighted[0], fit_dense(features, targets, width)[0], atol=1e-3)


def small_rows(count):
    """Return sparse rows of norm 1 in three groups, so that a few components stand out."""
    rng = np.random.default_rng(4)
    dense = rng.random((count, 12)) * (rng.random((count, 12)) < 0.3)
    dense[np.arange(count), np.arange(count) % 3] += 1 + np.arange(count) % 3
    return sp.csr_matrix((dense / np.linalg.norm(dense, axis=1, keepdims=True)).astype(np.float32))


def test_components_of_texts(monkeypatch):
    monkeypatch.setattr("nlptx.ngrams.lsa._TOLERANCE", 1e-6)
    rows = small_rows(30)
    weights, twice = doubling(30)
    ours = find_components(rows, 3, np.random.default_rng(1), SERIAL, text_weights=weights)
    theirs = find_components(rows[twice], 3, np.random.default_rng(1), SERIAL)
    signs = np.sign((ours.scores[twice] * theirs.scores).sum(axis=0))
    assert_allclose(ours.scores[twice] * signs, theirs.scores, atol=1e-3)
    coefficients = np.array([[1.0], [-2.0], [0.5]], np.float32)
    for mine, other in zip(ours.to_ngrams(coefficients * signs[:, None]), theirs.to_ngrams(coefficients), strict=True):
        assert_allclose(mine, other, atol=1e-3)
    # The contribution of a row to its own output includes the contribution of its duplicate.
    own = theirs.self_outputs(coefficients)[np.searchsorted(twice, np.arange(30))]
    assert_allclose(ours.self_outputs(coefficients * signs[:, None]), own * weights[:, None], atol=1e-3)


def test_components_of_texts_with_very_small_weights_are_finite():
    weights = np.where(np.arange(30) % 5, 1.0, 1e-300)
    components = find_components(small_rows(30), 3, np.random.default_rng(1), SERIAL, text_weights=weights)
    assert np.isfinite(components.scores).all()
    assert np.abs(components.scores).max() < 10


@both
def test_ngram_features_of_new_texts(classes, monkeypatch):
    monkeypatch.setattr("nlptx.ngrams.lsa._TOLERANCE", 1e-6)
    rng = np.random.default_rng(5)
    texts = [rng.integers(0, 9, rng.integers(20, 30)).astype(np.int32) for _ in range(24)]
    targets = np.arange(24) % classes
    for text, target in zip(texts, targets, strict=True):
        text[::4] = target
    weights, twice = doubling(24)
    shape = FeatureSettings(classes, 2, 9, 2, 4)

    def fitted(rows, weights=None):
        rng = np.random.default_rng(1)
        return fit_ngram_features([texts[row] for row in rows], targets[rows], shape, rng, text_weights=weights)[0]

    ours, theirs = fitted(np.arange(24), weights), fitted(twice)
    assert_array_equal(ours.keys, theirs.keys)
    assert_allclose(ours.importance, theirs.importance, rtol=1e-6)
    assert_allclose(ours.ratios, theirs.ratios, atol=1e-6)
    assert_allclose(ours.ratio_weights, theirs.ratio_weights, atol=2e-3)
    assert_allclose(ours.lsa_weights, theirs.lsa_weights, atol=2e-3)
    assert_allclose(ours.bias, theirs.bias, atol=5e-3)


def test_out_of_fold_features_if_duplicates_share_a_fold(monkeypatch):
    """If there are no components, weighted texts and repeated texts have equal out-of-fold features."""
    texts, labels = make_reviews(30)
    words = {word: number for number, word in enumerate(sorted({word for text in texts for word in text.split()}))}
    ids = [np.array([words[word] for word in text.split()], np.int32) for text in texts]
    targets = np.array([label == "pos" for label in labels], np.int64)
    weights, twice = doubling(30)
    shape = FeatureSettings(2, 2, len(words), 2)
    fold = np.arange(30) % 5

    def features(rows, weights=None):
        monkeypatch.setattr(cross_fit, "assign_folds", lambda targets, parts, rng, first: fold[rows])
        rng = np.random.default_rng(1)
        return fit_ngram_features([ids[row] for row in rows], targets[rows], shape, rng, text_weights=weights)[1]

    ours, theirs = features(np.arange(30), weights), features(twice)
    for index, row in enumerate(twice):
        assert_allclose(ours[row].token_features, theirs[index].token_features, atol=1e-6)
        assert_allclose(ours[row].text_features, theirs[index].text_features, atol=5e-3)


# ---------------------------------------------------------------- loss, priors, calibration, baselines


def test_loss_and_gradient_of_a_whole_batch():
    texts, labels = make_reviews(20)
    labels[:4] = ["pos"] * 4
    weights, twice = doubling(20)
    model, data = untrained(texts, labels, small_embeddings(), WHOLE)
    ids, targets = data.train.ids, data.train.targets

    def gradient(rows, sample_weights):
        scaled = None if sample_weights is None else scaled_to_mean_one(sample_weights)
        microbatches = cut_microbatches([ids[row] for row in rows], targets[rows], None, scaled)
        grads = Gradients(np.zeros_like(model.flat))
        losses = [loss_and_gradients(model, batch, grads, None, len(rows))[0] for batch in microbatches]
        return sum(losses) / len(rows), grads.flat

    loss, flat = gradient(np.arange(20), weights)
    loss_twice, flat_twice = gradient(twice, None)
    assert loss == pytest.approx(loss_twice, rel=1e-5)
    assert_allclose(flat, flat_twice, atol=1e-6)
    assert not np.allclose(flat, gradient(np.arange(20), None)[1], atol=1e-5)


def test_validation():
    texts, labels = make_reviews(12)
    weights, twice = doubling(14)
    model, data = untrained(texts, labels, small_embeddings(), WHOLE)
    model.flat += np.random.default_rng(1).normal(0, 0.3, model.flat.shape).astype(model.flat.dtype)
    unknown = np.array([0, 1])
    examples = Examples(data.train.ids, data.train.targets, None, 0, unknown, weights[:12], weights[12:])
    rows, others = twice[twice < 12], twice[twice >= 12] - 12
    doubled = Examples(data.train.ids.take(rows), data.train.targets[rows], None, 0, unknown[others])
    assert validate(model, examples, SERIAL) == pytest.approx(validate(model, doubled, SERIAL), rel=1e-5)


def test_priors():
    context = make_context()

    def priors(weights, rows):
        texts, labels = make_reviews(20)
        given = LabelledTexts.of([texts[row] for row in rows], [labels[row] for row in rows], None, (), weights)
        return encode(given, small_embeddings(), WHOLE, context).priors

    weights, twice = doubling(20)
    assert_allclose(priors(weights, range(20)), priors(None, twice), rtol=1e-12)


def test_temperature_and_calibration_error():
    rng = np.random.default_rng(7)
    outputs, targets = rng.normal(0, 3, (200, 3)), rng.integers(0, 3, 200)
    targets[:150] = outputs[:150].argmax(axis=1)
    weights, twice = doubling(200)
    loss = CrossEntropy(3)
    temperature = find_temperature(loss.probabilities, outputs, targets, weights)
    assert temperature == find_temperature(loss.probabilities, outputs[twice], targets[twice])
    assert temperature != find_temperature(loss.probabilities, outputs, targets)
    p = loss.probabilities(outputs)
    assert log_loss(p, targets, weights) == pytest.approx(log_loss(p[twice], targets[twice]), rel=1e-12)
    confidence, correct = p.max(axis=1), p.argmax(axis=1) == targets
    expected = calibration_error(confidence[twice], correct[twice])
    assert calibration_error(confidence, correct, weights=weights) == pytest.approx(expected, rel=1e-12)


def test_baselines():
    texts, labels = make_reviews(40)
    weights, twice = doubling(40)
    weights[::2] *= 5
    twice = np.repeat(np.arange(40), weights.astype(int))
    model, data = untrained(texts, labels, small_embeddings(), WHOLE)
    outputs = np.random.default_rng(1).normal(0, 3, (40, model.network.loss.outputs))
    examples = data.train

    def warning(rows, weights):
        ids, targets = [examples.ids[row] for row in rows], examples.targets[rows]
        part = replace(examples, ids=ids, targets=targets, weights=weights)
        message = compare_with_baselines(model, replace(data, train=part, valid=part), outputs[rows])
        return message.partition("worse")[2]

    assert warning(np.arange(40), weights) == warning(twice, None) != warning(np.arange(40), None)


def test_held_out_texts_and_passages_keep_their_weights():
    texts, labels = make_reviews(30, shortest=120, longest=130)
    texts[3] = texts[4] = "?"
    weights = np.arange(1.0, 31.0)
    settings, context = TrainSettings(ngrams=0, passages=1, valid_share=0.3), make_context()
    given = LabelledTexts.of(texts, labels, None, (), weights)
    data = make_dataset(encode(given, small_embeddings(), settings, context), settings, context)
    by_ids = {tuple(ids): weight for ids, weight in zip(data.train.ids, data.train.weights, strict=True)}
    seen = np.concatenate([data.train.texts().weights, data.valid.weights])
    assert set(seen) | {4.0, 5.0} == set(weights)
    assert len(data.passages) > 10
    for passage, weight in zip(data.passages, data.train.weights[-len(data.passages) :], strict=True):
        assert by_ids[tuple(data.train.ids[passage.text])] == weight


# ---------------------------------------------------------------- fit


def fitted(texts, labels, sample_weight=None, **settings):
    settings = TrainSettings(**{"epochs": 1, "batch": 8, "width": 0, "ngrams": 2, "lsa_components": 4} | settings)
    return nlptx.fit(texts, labels, small_embeddings(), settings, sample_weight=sample_weight, jobs=1)


def test_weights_of_one_change_nothing():
    texts, labels = make_reviews(40)
    assert_array_equal(fitted(texts, labels, np.ones(40)).flat, fitted(texts, labels).flat)


def test_texts_of_weight_zero_are_left_out():
    texts, labels = make_reviews(40)
    weights = np.where(np.arange(40) % 4, 1.0, 0.0)
    kept = np.flatnonzero(weights)
    without = fitted([texts[row] for row in kept], [labels[row] for row in kept])
    assert_array_equal(fitted(texts, labels, weights).flat, without.flat)


def test_larger_weights_of_a_label_increase_its_probability():
    texts, labels = ["w1 w2 w3"] * 40, ["neg", "pos"] * 20
    probabilities = [small_weighted(texts, labels, w).predict_proba([texts[0]])[0, 1] for w in (0.1, 1, 10)]
    assert probabilities == sorted(probabilities)
    assert probabilities[2] - probabilities[0] > 0.3


def small_weighted(texts, labels, weight):
    settings = TrainSettings(
        epochs=3, lr=0.02, warmup=0, batch=1, ngrams=0, width=0, valid_share=0.0, weight_averaging=0.0
    )
    weights = [weight if label == "pos" else 1 for label in labels]
    return nlptx.fit(texts, labels, small_embeddings(), settings, sample_weight=weights, jobs=1)


def test_very_large_and_small_weights_yield_finite_parameters():
    texts, labels = make_reviews(40)
    weights = np.where(np.arange(40) % 2, 1e9, 1e-300)
    model = fitted(texts, labels, weights)
    assert np.isfinite(model.flat).all()


@pytest.mark.parametrize(
    ("weights", "says", "error"),
    [
        ([1.0, np.nan], r"`sample_weight\[1\]` is nan", DataError),
        ([1, -1], r"`sample_weight\[1\]` is -1", DataError),
        ([1, 1e308], r"`sample_weight\[1\]` is 1e\+308", DataError),
        ([1, 10**400], r"`sample_weight\[1\]` is 1000", DataError),
        ([1, np.inf], r"`sample_weight\[1\]` is inf", DataError),
        ([0, 0], "all texts are 0", DataError),
        ([1], "`sample_weight` has 1; expected one weight per text", DataError),
        ([1, "2"], r"`sample_weight\[1\]` is '2' \(str\)", InputTypeError),
        ([1, None], r"`sample_weight\[1\]` is None", InputTypeError),
        ([np.True_, 1], r"`sample_weight\[0\]` is .*True", InputTypeError),
        ([1, True], r"`sample_weight\[1\]` is True", InputTypeError),
        ("12", "`sample_weight` is '12'", InputTypeError),
        (np.ones((2, 1)), "2 dimensions", InputTypeError),
    ],
)
def test_invalid_weights_are_rejected(weights, says, error):
    with pytest.raises(error, match=says):
        list_weights(weights, 2)


@pytest.mark.parametrize("make", [list, np.array])
def test_a_mask_gives_the_weights_0_and_1(make):
    weights = list_weights(make([True, False, True]), 3)
    assert (weights.tolist(), weights.dtype) == ([1, 0, 1], np.float64)


def test_weights_on_another_scale_cause_a_note():
    assert list(weight_notes(None)) == list(weight_notes(np.array([0.5, 2.0]))) == []
    (note,) = weight_notes(np.array([1e-6, 2e-6]))
    assert "the mean weight is 1.5e-06" in note


def test_weights_are_part_of_the_fingerprint():
    texts, labels = make_reviews(10)

    def of(weights):
        given = LabelledTexts.of(texts, labels, None, (), weights)
        return Fingerprint.of(given, small_embeddings(), WHOLE, 1)

    assert of(range(1, 11)).differences(of(None)) == ["the training data differs"]
    assert of(np.ones(10)) == of(None)
