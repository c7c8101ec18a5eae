"""Tests of corrections of a trained model's outputs, and of adding words and n-grams to its n-gram features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from reviews import make_reviews, small_fit
from scipy.special import log_softmax

from nlptx.ngrams import correction
from nlptx.ngrams.correction import cross_fit_correction
from nlptx.ngrams.extension import with_ngrams, with_words
from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.ngrams.ngram_rows import ngram_rows
from nlptx.runtime.workers import Workers
from nlptx.text.character_ngrams import character_ngrams

RNG = np.random.default_rng(4)
TEXTS = [RNG.integers(0, 6, RNG.integers(1, 9)).astype(np.int32) for _ in range(30)]
VOCABULARY = ["good", "goods", "¬good", "bad", "a", "film"]
WORDS = len(VOCABULARY)


def fitted(targets, width, texts=TEXTS, min_texts=1, order=2):
    ngrams = ngram_rows(texts, len(texts), order, VOCABULARY, min_texts)
    rng = np.random.default_rng(1)
    outputs, inputs = rng.normal(size=(len(texts), width)), rng.normal(size=(len(texts), 3))
    where = np.arange(len(texts))
    told = (ngrams, outputs, inputs, targets, where, np.random.default_rng(2))
    with Workers(1) as workers:
        return (ngrams, outputs, inputs, *cross_fit_correction(*told, workers, lambda *report: None))


def test_rows_hold_the_distinct_ngrams_of_a_text():
    ngrams = ngram_rows(TEXTS, len(TEXTS), 2, VOCABULARY, 2)
    seen = [np.unique(keys[keys >= 0]) for keys in (ngram_keys(ids, 2, WORDS) for ids in TEXTS)]
    counts = {key: sum(key in part for part in seen) for key in np.unique(np.concatenate(seen))}
    assert_array_equal(ngrams.keys, [key for key, count in counts.items() if count >= 2])
    dense = ngrams.rows.toarray()
    for row, ids, part in zip(dense, TEXTS, seen, strict=True):
        assert_allclose(row, np.isin(ngrams.keys, part) / np.sqrt(len(ids)), rtol=1e-6)
    idf = np.array([np.log(31 / (counts[key] + 1)) + 1 for key in ngrams.keys])
    assert_allclose(ngrams.idf, idf / idf.mean(), rtol=1e-6)


def test_words_of_similar_spelling_have_common_character_ngrams():
    ngrams = ngram_rows(TEXTS, len(TEXTS), 2, VOCABULARY, 1)
    matrix = ngrams.characters.toarray()
    assert matrix.shape[0] == len(ngrams.keys)
    assert not matrix[WORDS:].any()  # rows of bigrams
    spellings = [set(character_ngrams(word)) for word in ("good", "goods")]
    found = (matrix[:3] > 0).astype(int) @ (matrix[:3] > 0).T
    sizes, common = [len(spelling) for spelling in spellings], len(spellings[0] & spellings[1])
    assert_array_equal(found, [[sizes[0], common, 0], [common, sizes[1], 0], [0, 0, sizes[0]]])


def test_character_ngrams_are_weighted_by_their_inverse_document_frequency():
    matrix = ngram_rows(TEXTS, len(TEXTS), 1, VOCABULARY, 1).characters.toarray()
    idf = []
    for column in matrix.T:
        words = np.flatnonzero(column)
        count = sum(bool(set(words.tolist()) & set(ids.tolist())) for ids in TEXTS)
        idf.append(np.log(31 / (count + 1)) + 1)
    assert_allclose(matrix.max(axis=0), idf / np.mean(idf), rtol=1e-5)


def test_rare_character_ngrams_are_left_out():
    texts = [np.array([0], np.int32)] * 2 + [np.array([1, 3], np.int32)] + [np.array([4], np.int32)] * 3
    characters = ngram_rows(texts, len(texts), 1, VOCABULARY, 1).characters.toarray()
    assert_array_equal((characters > 0).sum(axis=1), [6, 6, 0, 1])  # in the words good, goods, bad and a
    counted = ngram_rows(texts, 3, 1, VOCABULARY, 1).characters.toarray()
    assert_array_equal((counted > 0).sum(axis=1), [6, 6, 0])
    weighted = ngram_rows(texts, 3, 1, VOCABULARY, 1, np.array([1.0, 1.0, 3.0])).characters.toarray()
    assert_array_equal((weighted > 0).sum(axis=1), [6, 14, 6])


@pytest.fixture
def always(monkeypatch):
    """Use every correction with a factor of 1, even if it does not help."""
    monkeypatch.setattr(correction, "_best_factor", lambda outputs, change, targets, weights: np.float32(1))


def test_a_correction_that_does_not_help_is_zero():
    for width in (1, 3):
        *_, correction, contributions = fitted(RNG.integers(0, max(width, 2), len(TEXTS)), width)
        assert not any(part.any() for part in (correction.ngrams, correction.weights, correction.bias, contributions))


def test_a_correction_that_helps_is_used():
    targets = np.array([int(0 in ids) for ids in TEXTS * 3])
    *_, correction, contributions = fitted(targets, 1, TEXTS * 3)
    assert correction.ngrams.any()
    assert contributions.any()


def test_a_correction_that_is_much_too_large_is_made_smaller():
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 2, 2000)
    outputs = rng.standard_normal((2000, 1)) + (2 * targets - 1)[:, None]  # the true log-odds are 2 * outputs
    factors = [correction._best_factor(outputs, size * outputs, targets, np.ones(2000)) for size in (0.5, 1, 8, -1)]
    assert factors[:2] == [1, 1]
    assert 0.05 <= factors[2] <= 0.2  # the best correction is 1 * outputs, so 8 * outputs is too large
    assert factors[3] == 0
    assert correction._best_factor(outputs, 0 * outputs, targets, np.ones(2000)) == 0


def test_a_correction_helps_if_its_gain_is_clearly_above_the_standard_error():
    gains = np.array([1.0, -0.2] * 15)  # mean gain 0.4, standard error 0.11, threshold 0.29
    assert correction._helps(gains, np.ones(30))
    assert not correction._helps(gains[:16], np.ones(16))  # mean gain 0.4, standard error 0.15, threshold 0.62
    assert correction._helps(gains[:2], np.full(2, 15.0))
    assert not correction._helps(gains[:2], np.full(2, 8.0))
    assert not correction._helps(-gains, np.ones(30))


@pytest.mark.usefixtures("always")
def test_the_correction_is_the_most_probable_one():
    """No small step away from the correction raises its posterior probability."""
    for width in (1, 3):
        targets = RNG.integers(0, max(width, 2), len(TEXTS))
        ngrams, outputs, inputs, correction, _ = fitted(targets, width)

        # The prior of the numbers v = i w + (character matrix) u is normal, because the priors of w and u are.
        ngram_variance, character_variance = (2, 0.5) if width == 1 else (10, 0)
        covariance = ngram_variance * np.diag(ngrams.idf.astype(float) ** 2)
        covariance += character_variance * (ngrams.characters @ ngrams.characters.T).toarray()
        precision = np.linalg.inv(covariance)

        def loss(numbers, weights, bias, parts=(ngrams, outputs, inputs, precision), targets=targets):
            ngrams, outputs, inputs, precision = parts
            z = outputs + ngrams.rows @ numbers + inputs @ weights + bias
            z = np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z
            penalty = (numbers * (precision @ numbers)).sum() + (weights**2).sum() + (bias**2).sum()
            return penalty / 2 - log_softmax(z, axis=1)[np.arange(len(z)), targets].sum()

        best = [correction.ngrams.astype(float), correction.weights, correction.bias]
        assert any(abs(part).max() > 0.05 for part in best)
        for _ in range(20):
            moved = [part + RNG.normal(0, 0.02, part.shape) for part in best]
            assert loss(*moved) > loss(*best)


@pytest.mark.usefixtures("always", "same_folds")
def test_what_ngrams_add_to_a_text_does_not_depend_on_its_label():
    targets = RNG.integers(0, 2, len(TEXTS))
    contributions = fitted(targets, 1)[-1]
    for text in range(5):
        changed = targets.copy()
        changed[text] = 1 - changed[text]
        other = fitted(changed, 1)[-1]
        assert other[text] == contributions[text]
        assert (other != contributions).any()


def test_without_ngrams_only_the_other_inputs_count():
    _, _, _, correction, contributions = fitted(RNG.integers(0, 2, len(TEXTS)), 1, order=0)
    assert correction.ngrams.shape == (0, 1)
    assert not contributions.any()


def test_more_words_and_ngrams_leave_the_features_of_known_ones_alone():
    texts, labels = make_reviews(40)
    known = small_fit(texts, labels, ngrams=3).ngram_features
    more = with_words(known, known.words + 7)
    assert (np.diff(more.keys) > 0).all()
    fresh = np.setdiff1d(ngram_keys(np.array([known.words + 2, 1]), 3, more.words), [-1, *more.keys])
    extended = with_ngrams(more, fresh, np.full((len(fresh), 1), 2, np.float32))
    rng = np.random.default_rng(0)
    for _ in range(20):
        ids = rng.integers(0, known.words, 12).astype(np.int32)
        for features in (more, extended):
            assert_array_equal(features.of(ids).token_features, known.of(ids).token_features)
            assert_allclose(features.of(ids).text_features, known.of(ids).text_features, atol=1e-6)
    new = np.array([known.words + 2], np.int32)
    assert_allclose(extended.of(new).text_features[0] - more.of(new).text_features[0], 4)
