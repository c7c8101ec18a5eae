"""Tests of the logistic regression in which words with common character n-grams share parameters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import log_expit, log_softmax

from nlptx.ngrams import subword_model
from nlptx.ngrams.ngram_rows import ngram_rows
from nlptx.ngrams.subword_model import fit_subword_model
from nlptx.runtime.workers import SERIAL

RNG = np.random.default_rng(4)
TEXTS = [RNG.integers(0, 6, RNG.integers(1, 9)).astype(np.int32) for _ in range(30)]
_FITTED = subword_model._fit
VOCABULARY = ["good", "goods", "¬good", "bad", "a", "film"]
NGRAMS = ngram_rows(TEXTS, len(TEXTS), 2, VOCABULARY, 1)


def fit(rows, targets, width, text_weights=None, fold=None):
    return fit_subword_model(
        rows, targets, width, np.arange(len(targets)) % 3 if fold is None else fold, SERIAL, text_weights
    )


def log_likelihoods(z, targets):
    if targets.ndim == 2:
        return log_expit(np.where(targets, z, -z)).sum(axis=1)
    z = np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z
    return log_softmax(z, axis=1)[np.arange(len(z)), targets]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("width", "multi_label"), [(1, False), (3, False), (2, True)])
def test_the_model_is_the_most_probable_one(width, multi_label, weighted, monkeypatch):
    """No small step away from the fitted numbers raises their posterior probability."""
    monkeypatch.setattr(subword_model, "_TOLERANCE", 1e-7)
    targets = (
        RNG.integers(0, 2, (len(TEXTS), width)) == 1 if multi_label else RNG.integers(0, max(width, 2), len(TEXTS))
    )
    text_weights = RNG.uniform(0.5, 2, len(TEXTS)) if weighted else None
    model = fit(NGRAMS, targets, width, text_weights)
    # The prior of the numbers v = i w + (character matrix) u is normal, because the priors of w and u are.
    covariance = model.variance * np.diag(NGRAMS.idf.astype(float) ** 2)
    covariance += 0.25 * model.variance * (NGRAMS.characters @ NGRAMS.characters.T).toarray()
    precision = np.linalg.inv(covariance)

    def loss(numbers, bias):
        likelihoods = log_likelihoods(NGRAMS.rows @ numbers + bias, targets)
        return (numbers * (precision @ numbers)).sum() / 2 - np.average(likelihoods, weights=text_weights) * (
            len(TEXTS) if text_weights is None else text_weights.sum()
        )

    best = [model.ngrams.astype(float), model.bias.astype(float)]
    assert abs(best[0]).max() > 0.05
    for _ in range(20):
        moved = [part + RNG.normal(0, 0.02, part.shape) for part in best]
        assert loss(*moved) > loss(*best)


def test_words_with_similar_spelling_get_similar_numbers():
    """`goods` is in no text with the label 1, but it shares character n-grams with `good`, which is in all of them."""
    texts = [np.array([0, 4], np.int32), np.array([3, 4], np.int32)] * 5 + [np.array([1, 4], np.int32)] * 3
    rows = ngram_rows(texts, len(texts), 1, VOCABULARY, 1)
    model = fit(rows, np.array([1, 0] * 5), 1)
    good, goods, bad, a = model.ngrams[:, 0]
    assert good > goods > 0.1 > a > bad


def test_rows_after_those_of_the_labelled_texts_are_not_used():
    targets = RNG.integers(0, 2, len(TEXTS) - 5)
    more, only = (fit(ngram_rows(texts, len(targets), 2, VOCABULARY, 1), targets, 1) for texts in (TEXTS, TEXTS[:-5]))
    assert_allclose(more.ngrams, only.ngrams)


def test_cross_validation_chooses_the_variance():
    """The chosen prior variance is higher for labels that depend on the words than for random labels."""
    texts = [RNG.integers(0, 6, 4).astype(np.int32) for _ in range(200)]
    rows = ngram_rows(texts, len(texts), 1, VOCABULARY, 1)
    by_word = np.array([int(0 in ids) for ids in texts])
    chosen = [fit(rows, targets, 1).variance for targets in (by_word, RNG.integers(0, 2, len(texts)))]
    assert chosen == [max(subword_model._VARIANCES), min(subword_model._VARIANCES)]


def test_text_weights_count_in_the_choice_of_the_variance():
    """Texts with a weight of 0 do not change the result, whatever their labels."""
    weights = np.where(np.arange(len(TEXTS)) < 20, 1.0, 0.0)
    targets = RNG.integers(0, 2, len(TEXTS))
    other = np.where(weights > 0, targets, 1 - targets)
    one, two = (fit(NGRAMS, labels, 1, weights) for labels in (targets, other))
    assert one.variance == two.variance
    assert_allclose(one.ngrams, two.ngrams)


def test_only_some_folds_are_tested_if_there_are_many_texts(monkeypatch):
    tested = []
    monkeypatch.setattr(subword_model, "_TESTED", 20)
    monkeypatch.setattr(
        subword_model, "_fit", lambda rows, targets, *rest: tested.append(len(targets)) or _FITTED(rows, targets, *rest)
    )
    fit(NGRAMS, RNG.integers(0, 2, len(TEXTS)), 1)
    assert tested == [20] * 2 * len(subword_model._VARIANCES) + [30]  # two of three folds, fitted on 20 texts each
