"""Tests of latent semantic analysis: components of texts, and n-gram weights of linear models on these components."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.ngrams.cross_fit import FeatureSettings, fit_ngram_features
from nlptx.ngrams.importance import importance, unit_norm
from nlptx.ngrams.logistic_regression import COMPONENT_INVERSE_PENALTY, fit_dense
from nlptx.ngrams.lsa import find_components
from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.runtime.workers import Workers
from nlptx.sampling.passages import Passage


def random_presence(texts=60, grams=40, share=0.2, seed=1):
    present = np.random.default_rng(seed).random((texts, grams)) < share
    return sp.csr_matrix(present.astype(np.float32))


def components_of(rows, maximum, jobs=1, seed=1):
    return find_components(rows, maximum, np.random.default_rng(seed), Workers(jobs))


# ---------------------------------------------------------------- the rows of X


def test_importance_is_the_squared_logarithm_of_the_inverse_frequency():
    expected = [0, np.log(50) ** 2, np.log(2) ** 2, np.log(100 / 99) ** 2]
    assert_allclose(importance(np.array([1, 2, 50, 99]), 99, 2), expected, rtol=1e-5)


# If an n-gram occurs in n of 9,999 texts, and n is at least 10, log(10000 / n)^2 is at most log(10000 / 10)^2 = 47.7.
# The squared logarithm exceeds a tenth of its maximum if n is at most 1125, and a fifth of its maximum if n is at most
# 455.
@pytest.mark.parametrize(("long", "largest"), [(False, 1125), (True, 455)])
def test_very_frequent_ngrams_of_many_texts_have_no_importance(long, largest):
    seen = np.array([9, 10, largest, largest + 1, 9998])
    assert (importance(seen, 9999, 10, long=long) > 0).tolist() == [False, True, True, True, True]
    assert (importance(seen, 10000, 10, long=long) > 0).tolist() == [False, True, True, False, False]


def unit_rows(presence, weights):
    values = unit_norm(weights)(presence.indices, np.diff(presence.indptr))
    return sp.csr_matrix((values, presence.indices, presence.indptr), presence.shape)


def test_rows_have_length_1():
    presence = sp.csr_matrix(np.array([[0, 0], [1, 1], [1, 0], [0, 0]], np.float32))
    rows = unit_rows(presence, np.array([3.0, 4.0], np.float32))
    assert rows.dtype == np.float32
    assert_allclose(rows.toarray(), [[0, 0], [0.6, 0.8], [1, 0], [0, 0]])


# ---------------------------------------------------------------- the LSA components


def test_scores_equal_those_of_a_singular_value_decomposition():
    rows = unit_rows(random_presence(), np.linspace(0.5, 3, 40, dtype=np.float32))
    components = components_of(rows, 5)
    left, singular, _ = np.linalg.svd(rows.toarray(), full_matrices=False)
    expected = left[:, :5] * singular[:5]
    expected -= expected.mean(axis=0)
    expected /= np.sqrt(np.mean(expected**2))
    expected *= np.sign((expected * components.scores).sum(axis=0))
    # The components are accurate only to within the tolerance of the power iteration.
    assert_allclose(components.scores, expected, atol=0.05)
    assert np.mean(components.scores**2) == pytest.approx(1, rel=1e-5)
    assert_allclose(components.scores.mean(axis=0), 0, atol=1e-5)


def test_a_linear_model_of_the_scores_equals_one_of_the_ngrams():
    rows = unit_rows(random_presence(), np.ones(40, np.float32))
    components = components_of(rows, 8)
    coefficients = np.random.default_rng(2).normal(size=(components.scores.shape[1], 3)).astype(np.float32)
    weights, bias = components.to_ngrams(coefficients)
    assert (weights.shape, bias.shape) == ((40, 3), (3,))
    assert_allclose(rows @ weights + bias, components.scores @ coefficients, atol=0.05)


def test_outputs_without_their_own_row_use_only_the_other_texts():
    rows = unit_rows(random_presence(), np.random.default_rng(5).uniform(1, 9, 40).astype(np.float32))
    components = components_of(rows, 6)
    coefficients = np.random.default_rng(2).normal(size=(components.scores.shape[1], 3)).astype(np.float32)
    weights, _ = components.to_ngrams(coefficients)
    others = [
        (rows[[text]] @ rows[rest].T @ (components.lift[rest] @ coefficients))[0]
        for text in range(60)
        for rest in [np.delete(np.arange(60), text)]
    ]
    assert_allclose(rows @ weights - components.self_outputs(coefficients), others, rtol=1e-3, atol=1e-4)


def test_the_number_of_threads_does_not_change_the_components():
    rows = unit_rows(random_presence(200, 90), np.ones(90, np.float32))
    one, two = (components_of(rows, 9, jobs) for jobs in (1, 2))
    for name in ("scores", "lift", "mean"):
        assert getattr(one, name).dtype == np.float32
        assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize(
    ("texts", "grams", "maximum", "count"), [(60, 40, 100, 15), (60, 3, 100, 3), (3, 40, 100, None)]
)
def test_the_number_of_components_is_limited_by_texts_and_ngrams(texts, grams, maximum, count):
    components = components_of(unit_rows(random_presence(texts, grams, 0.5), np.ones(grams, np.float32)), maximum)
    assert components is None if count is None else components.scores.shape == (texts, count)


def test_equal_texts_have_no_components():
    presence = sp.csr_matrix(np.ones((20, 5), np.float32))
    assert components_of(unit_rows(presence, np.ones(5, np.float32)), 4) is None


def test_texts_without_ngrams_have_no_components():
    assert components_of(sp.csr_matrix((20, 5), dtype=np.float32), 4) is None


@pytest.mark.parametrize("classes", [2, 3])
def test_the_gradient_vanishes_at_the_linear_solution(classes):
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(80, 6)).astype(np.float32)
    targets = rng.integers(0, classes, 80)
    coefficients, bias = fit_dense(scores, targets, 1 if classes == 2 else classes)
    z = scores @ coefficients + bias
    if classes == 2:
        error = 1 / (1 + np.exp(-z)) - targets[:, None]
    else:
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        error = p - np.eye(classes)[targets]
    assert_allclose(scores.T @ error + coefficients / COMPONENT_INVERSE_PENALTY, 0, atol=2e-2)
    assert_allclose(error.sum(axis=0), 0, atol=2e-2)


class FlagRaising(np.ndarray):
    """An array whose products make the processor report an invalid operation, as some OpenBLAS kernels do."""

    def __matmul__(self, other):
        np.subtract(np.inf, np.inf)
        return np.asarray(self) @ other


def test_an_invalid_operation_without_effect_is_no_warning():
    rng = np.random.default_rng(3)
    scores, targets = rng.normal(size=(20, 5)).astype(np.float32), np.arange(20) % 2
    with pytest.warns(RuntimeWarning, match="invalid value"):
        scores.view(FlagRaising) @ np.ones(5)
    solution = fit_dense(scores.view(FlagRaising), targets, 1)
    for weights, expected in zip(solution, fit_dense(scores, targets, 1), strict=True):
        assert_array_equal(weights, expected)


# ---------------------------------------------------------------- the components in n-gram features


def fit_features(texts, targets, classes=2, unlabelled=(), words=30, threads=1, components=8, order=2, passages=()):
    texts, unlabelled = ([np.array(ids, np.int32) for ids in part] for part in (texts, unlabelled))
    shape = FeatureSettings(classes, order, words, 2, components)
    rng = np.random.default_rng(1)
    return fit_ngram_features(texts, np.array(targets), shape, rng, unlabelled, Workers(threads), passages=passages)


def random_texts(count, seed=1, words=30):
    rng = np.random.default_rng(seed)
    return rng.integers(0, words, (count, 9)).tolist(), rng.integers(0, 2, count).tolist()


@pytest.mark.parametrize("classes", [2, 3])
def test_text_features_are_the_outputs_of_both_linear_models(classes):
    texts, _ = random_texts(60)
    final, train_features = fit_features(texts, [number % classes for number in range(60)], classes)
    width = 1 if classes == 2 else 3
    assert final.bias.shape == train_features[0].text_features.shape == (2 * width,)
    ids = np.array(texts[7] + [3, 4])
    is_present = np.isin(final.keys, ngram_keys(ids, 2, 30))
    row = final.importance * is_present
    of_ratios = is_present @ final.ratio_weights / len(ids) ** 0.5 + final.bias[:width]
    of_components = is_present @ final.lsa_weights / np.linalg.norm(row) + final.bias[width:]
    assert_allclose(final.of(ids).text_features, [*of_ratios, *of_components], rtol=1e-4, atol=1e-5)


@pytest.mark.usefixtures("same_folds")
def test_a_label_does_not_affect_the_features_of_its_text():
    texts, targets = random_texts(40)
    unlabelled_texts, _ = random_texts(40, seed=2)
    _, before = fit_features(texts, targets, unlabelled=unlabelled_texts)
    for flipped in range(0, 40, 3):
        others = [1 - target if number == flipped else target for number, target in enumerate(targets)]
        _, after = fit_features(texts, others, unlabelled=unlabelled_texts)
        assert_array_equal(after[flipped].text_features, before[flipped].text_features)
        assert_array_equal(after[flipped].token_features, before[flipped].token_features)
        assert any((a.text_features != b.text_features).any() for a, b in zip(after, before, strict=True))


def test_features_of_training_and_new_texts_have_similar_spread():
    """The contribution of a training text to its own output is left out, because it is large if there are few texts."""
    rng = np.random.default_rng(6)
    targets = np.arange(400) % 2
    plain = (2000 * rng.random((400, 38)) ** 3).astype(int)
    texts = [
        [*words, *rng.integers(2000 + 50 * label, 2050 + 50 * label, 2)]
        for words, label in zip(plain, targets, strict=True)
    ]
    final, train_features = fit_features(texts[:200], targets[:200], words=2100, components=50, order=1)
    of_training_texts = np.array([features.text_features[1] for features in train_features])
    of_new_texts = np.array([final.of(np.array(ids)).text_features[1] for ids in texts[200:]])
    assert 0.7 < of_training_texts.std() / of_new_texts.std() < 1.3


def test_a_passage_that_is_the_entire_text_has_the_features_of_the_text():
    texts, targets = random_texts(40)
    passages = [Passage(number, 0, np.array(texts[number], np.int32)) for number in (3, 17, 3)]
    _, train_features = fit_features(texts, targets, passages=passages)
    for passage, features in zip(passages, train_features[40:], strict=True):
        assert_array_equal(features.token_features, train_features[passage.text].token_features)
        assert_allclose(features.text_features, train_features[passage.text].text_features, rtol=1e-5)


def test_a_word_that_occurs_only_in_unlabelled_texts_is_learned_from_its_context():
    rng = np.random.default_rng(4)
    targets = [number % 2 for number in range(60)]
    good, bad, superb, awful = 20, 21, 22, 23
    texts = [[*rng.integers(0, 20, 3), bad if target == 0 else good] for target in targets]
    unlabelled_texts = [
        [*rng.integers(0, 20, 3), *((good, superb) if number % 2 else (bad, awful))] for number in range(200)
    ]
    final, _ = fit_features(texts, targets, unlabelled=unlabelled_texts)
    outputs = {word: final.of(np.array([word])).text_features[1] for word in (good, bad, superb, awful)}
    assert min(outputs[good], outputs[superb]) > 0.02
    assert max(outputs[bad], outputs[awful]) < -0.02
    assert final.of(np.array([superb])).text_features[0] == final.bias[0]  # the ratio model does not know the word


def test_short_phrases_among_long_texts_train_only_the_ratio_model():
    texts, targets = random_texts(60)
    phrases = [[number % 30] for number in range(20)]
    (one, _), (other, _) = (fit_features(texts + phrases, targets + [label] * 20) for label in (0, 1))
    assert_array_equal(one.lsa_weights, other.lsa_weights)
    assert (one.ratio_weights != other.ratio_weights).any()
    assert (
        one.of(np.array([3])).text_features[1] != one.bias[1]
    )  # the LSA model has learned this word from the long texts


def test_short_texts_have_components_if_all_texts_are_short():
    texts = [[number % 7, 7 + number % 3] for number in range(60)]
    final, _ = fit_features(texts, [int(number % 3 == 0) for number in range(60)])
    assert final.of(np.array([7])).text_features[1] > final.bias[1]


def test_the_number_of_threads_changes_no_bit():
    texts, targets = random_texts(80)
    unlabelled_texts, _ = random_texts(50, seed=2)
    (one, train_features), (two, others) = (
        fit_features(texts, targets, unlabelled=unlabelled_texts, threads=threads) for threads in (1, 2)
    )
    for name in ("keys", "ratios", "ratio_weights", "bias", "lsa_weights", "importance"):
        assert_array_equal(getattr(one, name), getattr(two, name))
    assert all(np.array_equal(a.text_features, b.text_features) for a, b in zip(train_features, others, strict=True))
