"""Tests of n-gram features: counting, fitting, cross-fitting without label leaks, use in the network, and storage."""

import math
import os
from collections import Counter
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from gradcheck import check_gradients, layer_gradients, randomise
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from reviews import LABELS, TEXTS, make_reviews, small_embeddings, small_fit
from scipy.optimize import minimize
from scipy.special import expit, softmax
from steps import untrained

from nlptx.artifacts.container import write
from nlptx.classifier.model import Model
from nlptx.classifier.network import Network
from nlptx.errors import CorruptError
from nlptx.ngrams import MAX_VOCABULARY, NgramFeatures, TextFeatures, feature_width
from nlptx.ngrams.cross_fit import fit_ngram_features
from nlptx.ngrams.feature_settings import FeatureSettings
from nlptx.ngrams.key_arrays import key_arrays, read_keys
from nlptx.ngrams.logistic_regression import INVERSE_PENALTY, fit_sparse
from nlptx.ngrams.naive_bayes import log_count_ratios
from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.nn import Layout
from nlptx.runtime.workers import Workers
from nlptx.sampling.splits import FOLDS
from nlptx.settings import NetworkSettings, TrainSettings
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary
from nlptx.training.batching import cut_microbatches, drop_words
from nlptx.training.initialization import initial_model

START = -1  # stands for the start of the text; word ids begin at 0
both = pytest.mark.parametrize("classes", [2, 3])


# ---------------------------------------------------------------- reference implementation in plain Python


def grams_of(ids, order):
    """Return the n-grams of 1 to ``order`` words that end at each token; those beginning before the text are None."""
    text = (START, *ids)
    return [[text[t + 2 - n : t + 2] if n <= t + 2 else None for n in range(1, order + 1)] for t in range(len(ids))]


def distinct_grams(ids, order):
    return {gram for grams in grams_of(ids, order) for gram in grams if gram}


def plain_ratios(counts, classes, min_texts):
    """Return log-count ratios (Wang & Manning 2012): r = log((p / |p|) / (q / |q|)).

    Here p are the smoothed counts of a class, and q those of all other classes together. Smoothing adds two texts to
    the count of each n-gram, and divides these two texts between p and q in proportion to the total counts of the class
    and of the other classes.
    """
    frequent = [row for row in counts if sum(row) >= min_texts]
    columns = []
    for c in [1] if classes == 2 else range(classes):
        share = sum(row[c] for row in frequent) / sum(map(sum, frequent))
        p, q = (lambda row, c=c, s=share: row[c] + 2 * s), (lambda row, c=c, s=share: sum(row) - row[c] + 2 * (1 - s))
        all_p, all_q = sum(map(p, frequent)), sum(map(q, frequent))
        columns.append([math.log((p(row) / all_p) / (q(row) / all_q)) for row in counts])
    rows = zip(*columns, strict=True)
    return [[r if sum(row) >= min_texts else 0 for r in rs] for row, rs in zip(counts, rows, strict=True)]


def plain_token_features(ids, among, classes, order, min_texts, texts, targets):
    """Return the token features (T, order E) of a text, given counts in the texts with the indices ``among``."""
    sets = [distinct_grams(text, order) for text in texts]
    known = [gram for gram, count in Counter(gram for s in sets for gram in s).items() if count >= min_texts]
    counts = [[sum(gram in sets[i] for i in among if targets[i] == c) for c in range(classes)] for gram in known]
    ratios = dict(zip(known, plain_ratios(counts, classes, min_texts), strict=True))
    unknown = [0] * feature_width(classes)
    return [[r for gram in grams for r in ratios.get(gram, unknown)] for grams in grams_of(ids, order)]


# ---------------------------------------------------------------- keys: n-grams encoded as integers


def assert_one_key_per_gram(texts, order, words):
    key_of, gram_of = {}, {}
    for ids in texts:
        keys = ngram_keys(np.array(ids, np.int32), order, words)
        assert keys.shape == (len(ids), order)
        assert keys.dtype == np.int64
        for grams, row in zip(grams_of(ids, order), keys.tolist(), strict=True):
            for gram, key in zip(grams, row, strict=True):
                assert (key == -1) if gram is None else (key >= 0)
                assert key_of.setdefault(gram, key) == key
                assert gram_of.setdefault(key, gram) == gram


@settings(max_examples=150)
@given(
    st.integers(1, 4).flatmap(
        lambda words: st.tuples(
            st.lists(st.lists(st.integers(0, words - 1), max_size=7), min_size=1, max_size=12), st.just(words)
        )
    ),
    st.integers(1, 4),
)
def test_ngrams_have_equal_keys_if_and_only_if_they_are_equal(texts_and_words, order):
    texts, words = texts_and_words
    assert_one_key_per_gram(texts, order, words)


def test_keys_of_the_largest_vocabulary_do_not_overflow():
    last = MAX_VOCABULARY - 1
    texts = [[a, b, c, d] for a in (0, last) for b in (0, last) for c in (0, last) for d in (0, 1, last - 1, last)]
    assert_one_key_per_gram(texts, 3, MAX_VOCABULARY)


def test_the_start_of_a_text_acts_as_a_word():
    first, again = ngram_keys(np.array([4, 4]), 2, 9)
    assert first[0] == again[0]
    assert first[1] >= 0
    assert first[1] != again[1]


def test_keys_of_empty_and_short_texts():
    assert ngram_keys(np.array([], np.int32), 3, 9).shape == (0, 3)
    (only,) = ngram_keys(np.array([4], np.int32), 3, 9)
    assert_array_equal(only >= 0, [True, True, False])  # the word, the bigram of start and word, no trigram
    assert_array_equal(ngram_keys(np.array([4, 4], np.int32), 3, 9)[1] >= 0, True)


# ---------------------------------------------------------------- log-count ratios


@both
def test_ratios_follow_wang_and_manning(classes):
    counts = np.random.default_rng(1).integers(0, 5, (30, classes))
    counts[:3] = [[0] * classes, [1] + [0] * (classes - 1), [0] * (classes - 1) + [40]]
    ratios = log_count_ratios(counts, 2)
    assert ratios.dtype == np.float32
    assert ratios.shape == (30, feature_width(classes))
    assert_allclose(ratios, plain_ratios(counts.tolist(), classes, 2), rtol=1e-6, atol=1e-7)


@both
@pytest.mark.parametrize("min_texts", [1, 2, 5])
def test_rare_ngrams_have_no_ratio(classes, min_texts):
    counts = np.random.default_rng(2).integers(0, 4, (40, classes))
    ratios = log_count_ratios(counts, min_texts)
    rare = counts.sum(axis=1) < min_texts
    assert (ratios[rare] == 0).all()
    assert (ratios[~rare] != 0).any(axis=1).all()


def test_ratios_of_two_balanced_classes_use_add_one_smoothing():
    half = np.random.default_rng(3).integers(1, 9, (40, 2))
    counts = np.concatenate([half, half[:, ::-1]])
    p, q = counts[:, 1] + 1, counts[:, 0] + 1
    assert_allclose(log_count_ratios(counts, 1)[:, 0], np.log(p / p.sum()) - np.log(q / q.sum()), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shares", [(1, 1), (9, 1), (1, 1, 1), (5, 3, 1, 1, 1, 1)])
def test_neutral_ngrams_have_ratio_0_for_any_class_proportions(shares):
    counts = np.outer([1, 2, 10, 50], shares)
    assert_allclose(log_count_ratios(counts, 1), 0, atol=1e-6)


@pytest.mark.parametrize("shares", [(1, 1), (9, 1), (5, 3, 1)])
def test_ngrams_absent_from_labelled_texts_change_no_ratio(shares):
    counts = np.random.default_rng(4).poisson(np.array(shares) / 2, (60, len(shares)))
    more = np.concatenate([counts, np.zeros((5000, len(shares)), int)])
    assert_array_equal(log_count_ratios(more, 2)[:60], log_count_ratios(counts, 2))


@pytest.mark.parametrize("counts", [[[3, 0], [2, 0]], [[0, 3], [0, 2]], [[0, 3, 2], [0, 2, 5]], np.zeros((0, 2), int)])
def test_a_class_with_all_or_no_ngrams_has_ratios_0(counts):
    ratios = log_count_ratios(np.array(counts), 1)
    assert np.isfinite(ratios).all()
    assert (ratios[:, 0] == 0).all()


def test_the_ratio_is_positive_for_the_class_that_contains_the_ngram():
    assert log_count_ratios(np.array([[5, 0], [0, 5]]), 1)[:, 0] == pytest.approx([-math.log(6), math.log(6)])
    three = log_count_ratios(np.array([[5, 0, 0], [0, 5, 0], [0, 0, 5]]), 1)
    assert_array_equal(np.sign(three), 2 * np.eye(3) - 1)


# ---------------------------------------------------------------- the linear model


def gradient_of_penalised_loss(presence, ratios, targets, products, bias):
    """Return the gradients dw (G, E) and db (E,) of the loss, sum -log p + |w|^2 / (2 C), in float64.

    The gradients are computed one text at a time.
    """
    weights = products.astype(np.float64) / ratios
    dw, db = weights / INVERSE_PENALTY, np.zeros(len(bias))
    for row, target in zip(presence, targets, strict=True):
        z = bias + row @ products.astype(np.float64)
        error = expit(z) - target if len(bias) == 1 else softmax(z) - np.eye(len(bias))[target]
        dw += np.outer(row, error) * ratios
        db += error
    return dw, db


def assert_stationary(presence, ratios, targets, products, bias):
    gradient = np.concatenate(
        [part.ravel() for part in gradient_of_penalised_loss(presence, ratios, targets, products, bias)]
    )
    initial = gradient_of_penalised_loss(presence, ratios, targets, np.zeros_like(products), np.zeros_like(bias))
    start = np.linalg.norm(np.concatenate([part.ravel() for part in initial]))
    assert start > 1
    assert np.linalg.norm(gradient) < 2e-3 * start


def linear_problem(classes, texts, grams, seed=1):
    """Return presence (texts, G), ratios (G, E) that are not close to 0, and noisy targets that depend on both."""
    rng = np.random.default_rng(seed)
    presence = (rng.random((texts, grams)) < 0.3).astype(np.float32)
    ratios = rng.choice([-1, 1], (grams, feature_width(classes))) * rng.uniform(0.3, 1.5, (grams, 1))
    z = presence @ ratios + rng.logistic(0, 2, (texts, feature_width(classes)))
    targets = (z[:, 0] > 0).astype(np.int64) if classes == 2 else z.argmax(axis=1)
    return presence, ratios.astype(np.float32), targets


@both
def test_the_gradient_vanishes_at_the_linear_solution(classes):
    presence, ratios, targets = linear_problem(classes, 120, 40)
    products, bias = fit_sparse(sp.csr_matrix(presence), ratios, targets)
    assert products.shape == ratios.shape
    assert products.dtype == bias.dtype == np.float32
    assert_stationary(presence, ratios, targets, products, bias)


def test_the_linear_solution_equals_that_of_another_optimizer():
    presence, ratios, targets = linear_problem(2, 60, 8)
    features, signs = presence.astype(np.float64) * ratios[:, 0], 2 * targets - 1

    def loss(flat):
        margins = signs * (features @ flat[:-1] + flat[-1])
        return np.log1p(np.exp(-margins)).sum() + flat[:-1] @ flat[:-1] / (2 * INVERSE_PENALTY)

    # BFGS computes the gradients numerically.
    actual = minimize(loss, np.zeros(9), method="BFGS", options={"gtol": 1e-4}).x
    products, bias = fit_sparse(sp.csr_matrix(presence), ratios, targets)
    assert_allclose(products[:, 0] / ratios[:, 0], actual[:-1], atol=2e-3)
    assert_allclose(bias[0], actual[-1], atol=2e-3)


def test_texts_with_very_many_decisive_ngrams_do_not_overflow():
    half = 20_000
    presence = sp.csr_matrix(np.kron(np.eye(2, dtype=np.float32), np.ones((3, half), np.float32)))
    ratios = np.repeat(np.array([[-9.0], [9.0]], np.float32), half, axis=0)
    products, bias = fit_sparse(
        presence, ratios, np.array([0, 0, 0, 1, 1, 1])
    )  # an overflow warning would make the test fail
    z = presence @ products + bias
    assert (z[:3] < -3).all()
    assert (z[3:] > 3).all()


# ---------------------------------------------------------------- cross-fitting: features fitted out of fold


def fit_features(
    texts, targets, classes, order=3, words=6, min_texts=2, threads=1, seed=3, components=0, unlabelled=()
):
    texts = [np.array(ids, np.int32) for ids in texts]
    rng = np.random.default_rng(seed)
    shape = FeatureSettings(classes, order, words, min_texts, components)
    unlabelled_texts = [np.array(ids, np.int32) for ids in unlabelled]
    return fit_ngram_features(texts, np.array(targets, np.int64), shape, rng, unlabelled_texts, Workers(threads))


def random_texts(count, classes, length=6, words=6, seed=1):
    """Return random texts and labels that are independent of each other."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, words, (count, length)).tolist(), (rng.permutation(count) % classes).tolist()


def same(a, b):
    return np.array_equal(a.token_features, b.token_features) and np.array_equal(a.text_features, b.text_features)


COUNT = 15


@cache
def folds_by_flipping(classes):
    """Return a set for each text: the texts whose features stay the same if the label of this text changes."""
    texts, targets = random_texts(COUNT, classes)
    _, before = fit_features(texts, targets, classes)
    folds = []
    for flipped in range(COUNT):
        others = [(t + 1) % classes if i == flipped else t for i, t in enumerate(targets)]
        _, after = fit_features(texts, others, classes)
        folds.append(frozenset(i for i in range(COUNT) if same(before[i], after[i])))
    return folds


@both
@pytest.mark.usefixtures("same_folds")
def test_a_label_does_not_affect_the_features_of_its_text_or_fold(classes):
    folds = folds_by_flipping(classes)
    for number, unchanged in enumerate(folds):
        assert number in unchanged
        assert all(folds[other] == unchanged for other in unchanged)
    # A label affects the features of all texts in other folds.
    assert [len(fold) for fold in set(folds)] == [COUNT // FOLDS] * FOLDS


@both
@pytest.mark.usefixtures("same_folds")
def test_features_of_a_training_text_use_the_counts_of_the_other_folds(classes):
    texts, targets = random_texts(COUNT, classes)
    _, train_features = fit_features(texts, targets, classes)
    for ids, fold, features in zip(texts, folds_by_flipping(classes), train_features, strict=True):
        outside = [i for i in range(COUNT) if i not in fold]
        expected = plain_token_features(ids, outside, classes, 3, 2, texts, targets)
        assert_allclose(features.token_features, expected, rtol=1e-5, atol=1e-6)


@both
@pytest.mark.parametrize("min_texts", [1, 3])
def test_features_of_a_new_text_use_the_counts_of_all_texts(classes, min_texts):
    texts, targets = random_texts(COUNT, classes)
    final, _ = fit_features(texts, targets, classes, min_texts=min_texts)
    for ids in [texts[0], texts[7], [5, 4, 3, 2, 1, 0], [2]]:
        expected = plain_token_features(ids, range(COUNT), classes, 3, min_texts, texts, targets)
        assert_allclose(final.of(np.array(ids)).token_features, expected, rtol=1e-5, atol=1e-6)


@both
def test_features_of_a_new_text_use_the_linear_model_of_all_texts(classes):
    texts, targets = random_texts(40, classes)
    final, _ = fit_features(texts, targets, classes)
    presence = np.array([np.isin(final.keys, ngram_keys(np.array(ids), 3, 6)) for ids in texts], np.float32)
    has_ratio = (final.ratios != 0).all(axis=1)
    presence /= np.sqrt([[len(ids)] for ids in texts], dtype=np.float32)
    assert (final.ratio_weights[~has_ratio] == 0).all()
    assert_stationary(
        presence[:, has_ratio], final.ratios[has_ratio], targets, final.ratio_weights[has_ratio], final.bias
    )
    text_features = [final.of(np.array(ids)).text_features for ids in texts]
    assert_allclose(text_features, presence @ final.ratio_weights + final.bias, rtol=1e-5, atol=1e-6)


@both
def test_unlabelled_texts_change_no_ratio(classes):
    """The labels are unbalanced, and the unlabelled texts contain many n-grams that no labelled text contains."""
    texts, targets = random_texts(60, classes, words=30)
    targets = [target if number % 3 else 0 for number, target in enumerate(targets)]
    unlabelled_texts = random_texts(300, classes, words=60, seed=2)[0]
    for_texts = {"classes": classes, "words": 60, "components": 4}
    (alone, _), (with_unlabelled, _) = (
        fit_features(texts, targets, **for_texts, unlabelled=part) for part in ((), unlabelled_texts)
    )
    assert len(with_unlabelled.keys) > 2 * len(alone.keys)
    assert_array_equal(with_unlabelled.ratios[np.searchsorted(with_unlabelled.keys, alone.keys)], alone.ratios)


def test_an_ngram_counts_once_per_text():
    pairs, targets = [[0, 1], [1, 2], [0, 2], [2, 3], [3, 0], [1, 3]], [0, 1, 0, 1, 0, 1]
    texts = ([[*ids, ids[repeated]] for ids in pairs] for repeated in (0, 1))
    (one, _), (other, _) = (fit_features(part, targets, 2, order=1, min_texts=1) for part in texts)
    assert_array_equal(one.keys, other.keys)
    assert_array_equal(one.ratios, other.ratios)
    assert_array_equal(one.ratio_weights, other.ratio_weights)
    assert_array_equal(one.of(np.array([0, 1, 0])).text_features, one.of(np.array([0, 1, 1])).text_features)


def test_the_first_model_divides_by_the_square_root_of_the_text_length():
    final, _ = fit_features(*random_texts(40, 2), 2, order=1)
    short, long = (final.of(np.array(ids)).text_features - final.bias for ids in ([0, 1], [0, 1, 1, 0, 0, 1, 0, 1]))
    assert_allclose(short, 2 * long, rtol=1e-4)


@both
def test_cross_fitted_features_do_not_reveal_random_labels(classes):
    texts, targets = random_texts(300, classes, length=12, words=60)
    final, train_features = fit_features(texts, targets, classes, order=2, words=60)

    def accuracy(text_features):
        z = np.array(text_features)
        return np.mean((z[:, 0] > 0 if classes == 2 else z.argmax(axis=1)) == targets)

    assert abs(accuracy([features.text_features for features in train_features]) - 1 / classes) < 0.1
    assert accuracy([final.of(np.array(ids)).text_features for ids in texts]) > 0.9


def test_cross_fitted_features_recognise_informative_words():
    texts, targets = random_texts(100, 2)
    texts = [[*ids, 6 + target] for ids, target in zip(texts, targets, strict=True)]
    _, train_features = fit_features(texts, targets, 2, words=8)
    assert (
        np.mean(
            [
                (features.text_features[0] > 0) == target
                for features, target in zip(train_features, targets, strict=True)
            ]
        )
        > 0.95
    )


@both
def test_features_do_not_depend_on_the_number_of_threads(classes):
    texts, targets = random_texts(60, classes)
    (one, train_features), (two, others) = (
        fit_features(texts, targets, classes, threads=threads) for threads in (1, 2)
    )
    for name in ("keys", "ratios", "ratio_weights", "bias"):
        assert_array_equal(getattr(one, name), getattr(two, name))
    assert all(same(a, b) for a, b in zip(train_features, others, strict=True))


@pytest.mark.parametrize("count", [1, 2, 4])
def test_fewer_texts_than_folds(count):
    final, train_features = fit_features([[0, 1, 2]] * count, [number % 2 for number in range(count)], 2, min_texts=1)
    assert len(final.keys) == 8
    assert [features.token_features.shape for features in train_features] == [(3, 3)] * count
    assert all(np.isfinite(features.text_features).all() for features in train_features)
    if count == 1:  # there is no other text from which the features could be fitted
        assert not train_features[0].token_features.any()
        assert not train_features[0].text_features.any()


@both
def test_without_known_ngrams_text_features_equal_the_bias(classes):
    texts, targets = random_texts(20, classes)
    final, train_features = fit_features(texts, targets, classes, min_texts=21)
    assert len(final.keys) == 0
    for features in [*train_features, final.of(np.array([3, 1]))]:
        assert features.token_features.shape[1] == 3 * feature_width(classes)
        assert not features.token_features.any()
    assert_array_equal(final.of(np.array([3, 1])).text_features, final.bias)


def test_unknown_ngrams_contribute_nothing():
    known = NgramFeatures(
        1, 4, np.array([2]), np.array([[7.0]], np.float32), np.array([[5.0]], np.float32), np.zeros(1)
    )
    features = known.of(np.array([0, 1, 1, 2]))  # the key of a single word is its id + 1
    assert_array_equal(features.token_features, [[0], [7], [7], [0]])
    assert features.text_features == [5 / 2]  # divided by the square root of 4, the number of words


def test_an_empty_text_has_no_token_features():
    final, _ = fit_features(*random_texts(10, 2), 2)
    features = final.of(np.array([], np.int32))
    assert features.token_features.shape == (0, 3)
    assert_array_equal(features.text_features, final.bias)


# ---------------------------------------------------------------- n-gram features in the network

NETWORKS = pytest.mark.parametrize(
    ("loss", "classes"), [("cross-entropy", 2), ("cross-entropy", 3), ("squared-error", 2)]
)
LENGTHS = np.array([3, 1, 7, 2])


def network_with_features(loss, classes):
    """Return a network and its inputs: the layout, word vectors, token features and text features."""
    shape = NetworkSettings(width=6, heads=2, hidden=7, attention_window=4, dropout=0.0, loss=loss)
    rng, width = np.random.default_rng(4), feature_width(classes)
    network = Network(shape, 5, classes, rng, 2 * width, width)
    sizes = ((LENGTHS.sum(), 5), (LENGTHS.sum(), 2 * width), (len(LENGTHS), width))
    return network, Layout(LENGTHS, shape.attention_window, shape.causal), *(rng.normal(size=size) for size in sizes)


@NETWORKS
def test_gradients_of_the_feature_projections_equal_central_differences(loss, classes):
    network, layout, x, token_features, text_features = network_with_features(loss, classes)
    randomise(network)
    forward = partial(network.forward, token_features=token_features, text_features=text_features)
    with_features = SimpleNamespace(forward=forward, backward=network.backward, parameters=network.parameters)
    total, arrays = layer_gradients(with_features, x, layout)
    names = ("x", "token_projection.W", "text_projection.W", "encoder.projection.W", "head.W")
    arrays = {name: arrays[name] for name in names}
    assert all(gradient.any() for _, gradient in arrays.values())
    check_gradients(total, arrays)


@NETWORKS
def test_features_are_added_to_inputs_and_outputs(loss, classes):
    network, layout, x, token_features, text_features = network_with_features(loss, classes)
    randomise(network)
    U, W = network.token_projection.weight.value, network.text_projection.weight.value
    without = network.forward(x + token_features @ U, layout, None)[0]
    assert_allclose(
        network.forward(x, layout, None, token_features, text_features)[0], without + text_features @ W, rtol=1e-12
    )


@NETWORKS
def test_an_initial_network_predicts_what_the_linear_model_predicts(loss, classes):
    network, layout, x, token_features, text_features = network_with_features(loss, classes)
    network.head.weight.value[...] = network.head.bias.value[...] = 0
    outputs, _ = network.forward(x, layout, None, token_features, text_features)
    z = text_features
    expected = softmax(z, axis=1) if classes == 3 else np.hstack([expit(-z), expit(z)])
    assert_allclose(network.loss.probabilities(outputs), expected, rtol=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_word_dropout_drops_the_token_features_of_the_word(share):
    lengths = [1, *range(20, 120)]
    texts = [200 * number + np.arange(length, dtype=np.int32) for number, length in enumerate(lengths)]
    features = [
        TextFeatures(np.stack([ids, -ids], axis=1).astype(np.float32), np.array([number], np.float32))
        for number, ids in enumerate(texts)
    ]
    remaining, features = drop_words(texts, features, share, np.random.default_rng(1))
    microbatches = cut_microbatches(remaining, np.arange(len(texts)), features)
    assert len(microbatches) > 1
    for part in microbatches:
        assert_array_equal(part.token_features, np.stack([part.ids, -part.ids], axis=1))
        assert_array_equal(part.text_features[:, 0], part.targets)
        assert_array_equal(np.repeat(part.targets, part.lengths), part.ids // 200)
    kept = sum(len(part.token_features) for part in microbatches) / sum(lengths)
    assert kept == pytest.approx(1 - share, abs=0.03)


# ---------------------------------------------------------------- n-gram features in the model and its artifact

ARRAYS = {"ngrams_lower", "ngrams_upper", "ratios", "slopes", "bias", "latent", "importance"}


@cache
def trained(**more):
    return small_fit(ngrams=3, **more)


@cache
def trained_on_kinds():
    texts, labels = make_reviews(30)
    return small_fit(texts, [f"{label}{number % 3}" for number, label in enumerate(labels)], ngrams=2, compact=False)


def probabilities(model):
    return model.probabilities([model.encode(text) for text in TEXTS])


def test_an_untrained_model_predicts_the_mean_of_the_linear_models():
    texts, labels = make_reviews(40)
    model, data = untrained(texts, labels, small_embeddings())
    assert len(data.train.ngram_features) == len(data.train)
    model = model.as_float64()
    model.network.head.weight.value[...] = model.network.head.bias.value[...] = 0
    z = np.array([model.ngram_features.of(model.encode(text)).text_features for text in TEXTS], np.float64)
    assert z.shape == (len(TEXTS), 2)
    z = z.mean(axis=1, keepdims=True)
    assert np.ptp(z) > 0.1
    assert_allclose(probabilities(model), np.hstack([expit(-z), expit(z)]), rtol=1e-12)


@pytest.mark.parametrize("make", [trained, trained_on_kinds])
def test_round_trip_of_a_model_with_ngrams(make, tmp_path):
    path = str(tmp_path / "model.npz")
    model = make()
    model.save(path)
    loaded = Model.load(path)
    assert set(model.to_artifact().arrays) >= ARRAYS
    assert loaded.ngram_features.order == model.ngram_features.order
    assert_array_equal(loaded.ngram_features.keys, model.ngram_features.keys)
    assert_array_equal(probabilities(loaded), probabilities(model))


def test_compact_files_hardly_change_the_probabilities(tmp_path):
    path = str(tmp_path / "model.npz")
    model = trained(compact=True)
    model.save(path)
    arrays = model.to_artifact().arrays
    in_8_bits = {name for name, array in arrays.items() if array.dtype == np.int8 and "exponents" not in name}
    assert in_8_bits == {"table", "ratios", "slopes", "latent", "importance"}
    loaded = Model.load(path)
    assert_allclose(probabilities(trained()), probabilities(model), rtol=0, atol=1e-2)
    assert (probabilities(trained()) != probabilities(model)).any()
    # Training rounds the values as storing does, so the accuracy that training reports is that of the loaded model.
    assert_array_equal(probabilities(loaded), probabilities(model))


def test_compact_files_have_a_third_of_the_size(tmp_path):
    words, rng = 2_000, np.random.default_rng(1)
    vocabulary = Vocabulary([f"w{number}" for number in range(words)], np.ones(words, np.int64), Tokenizer())
    features, _ = fit_features(*random_texts(20, 2), 2, words=words)
    table = rng.normal(size=(words, 128)).astype(np.float32)
    sizes = {}
    for compact in (False, True):
        settings = TrainSettings(width=8, loss="cross-entropy", compact=compact)
        model = initial_model(vocabulary, table, list(LABELS), None, np.full(2, 0.5), settings, 1, features)
        path = str(tmp_path / f"{compact}.npz")
        model.save(path)
        sizes[compact] = os.path.getsize(path)
    assert sizes[True] / sizes[False] == pytest.approx(0.3, abs=0.05)


def test_without_ngrams_there_are_no_features():
    model = small_fit(ngrams=0)
    assert model.ngram_features is None
    assert model.network.token_projection is None
    assert model.network.text_projection is None
    assert not ARRAYS & set(model.to_artifact().arrays)


def refused(artifact, folder):
    path = str(folder / "model.npz")
    write(path, artifact)
    with pytest.raises(CorruptError, match=r"model\.npz"):
        Model.load(path)


WRONG = {
    "keys reversed": ("ngrams", lambda keys: keys[::-1]),
    "duplicate key": ("ngrams", lambda keys: np.append(keys[:-1], keys[-2])),
    "keys whose differences overflow": (
        "ngrams",
        lambda keys: np.append(np.iinfo(np.int64).max, np.arange(len(keys) - 1) + np.iinfo(np.int64).min),
    ),
    "32-bit keys": ("ngrams", lambda keys: np.arange(len(keys), dtype=np.int32)),
    "missing key": ("ngrams", lambda keys: keys[:-1]),
    "upper bits of more keys": ("ngrams_upper", lambda upper: np.add(upper, [0, 1])),
    "negative upper bits": ("ngrams_upper", lambda upper: np.subtract(upper, [1, 0])),
    "upper bits of no key": ("ngrams_upper", lambda upper: np.append(upper, [[1, 0]], axis=0)),
    "too large upper bits": ("ngrams_upper", lambda upper: np.add(upper, [1 << 31, 0])),
    "lower bits reversed": ("ngrams_lower", lambda lower: lower[::-1]),
    "64-bit lower bits": ("ngrams_lower", lambda lower: lower.astype(np.int64)),
    "missing ratio": ("ratios", lambda ratios: ratios[:-1]),
    "ratios of three classes": ("ratios", lambda ratios: np.repeat(ratios, 3, axis=1)),
    "one-dimensional ratios": ("ratios", lambda ratios: ratios[:, 0]),
    "float16 ratios in a float32 file": ("ratios", lambda ratios: ratios.astype(np.float16)),
    "NaN ratios": ("ratios", lambda ratios: np.full_like(ratios, np.nan)),
    "missing slope": ("slopes", lambda slopes: slopes[:-1]),
    "a bias of three classes": ("bias", lambda bias: np.repeat(bias, 3)),
}


@pytest.mark.parametrize("name", WRONG)
def test_damaged_arrays_are_rejected(name, tmp_path):
    array, damage = WRONG[name]
    artifact = trained().to_artifact()
    arrays = artifact.arrays | ({"ngrams": trained().ngram_features.keys} if array == "ngrams" else {})
    refused(replace(artifact, arrays=arrays | {array: damage(arrays[array])}), tmp_path)


def test_keys_are_stored_in_the_form_that_takes_less_space(tmp_path):
    """Keys that are far apart, such as those of a very large vocabulary, are stored in one array. Both forms work."""
    artifact = trained().to_artifact()
    keys = trained().ngram_features.keys
    far_apart = np.arange(len(keys)) << 33
    assert set(key_arrays(far_apart)) == {"ngrams"}
    path = str(tmp_path / "model.npz")
    parts = {"ngrams_lower", "ngrams_upper"}
    whole = {name: array for name, array in artifact.arrays.items() if name not in parts} | {"ngrams": keys}
    write(path, replace(artifact, arrays=whole))
    assert_array_equal(Model.load(path).ngram_features.keys, keys)
    high = np.sort(np.random.default_rng(1).integers(0, 1 << 62, 5) & ~0xFF)[:, None] + np.arange(200)
    restored = replace(artifact, arrays=key_arrays(high.ravel()))
    assert_array_equal(read_keys(restored), high.ravel())


@pytest.mark.parametrize("name", sorted(ARRAYS))
def test_missing_arrays_are_rejected(name, tmp_path):
    artifact = trained().to_artifact()
    refused(replace(artifact, arrays={key: a for key, a in artifact.arrays.items() if key != name}), tmp_path)


def test_arrays_that_contradict_the_settings_are_rejected(tmp_path):
    artifact = trained().to_artifact()
    refused(replace(artifact, settings=artifact.settings | {"ngrams": 0}), tmp_path)
