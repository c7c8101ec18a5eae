"""L-BFGS in the span of the texts' feature vectors reaches the same loss as L-BFGS over all weights."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from nlptx.ngrams import logistic_regression
from nlptx.ngrams.logistic_regression import INVERSE_PENALTY, fit_sparse
from nlptx.ngrams.span_lbfgs import minimise_in_span
from nlptx.nn.activations import sigmoid


def losses_of(products, bias, rows, ratios, targets, text_weights):
    """Return the loss of a model, summed over the texts, plus the penalty."""
    z = rows @ products.astype(np.float64) + bias
    if targets.ndim == 2:
        each = np.logaddexp(0, np.where(targets, -z, z)).sum(axis=1)
    elif z.shape[1] == 1:
        each = np.logaddexp(0, -z[:, 0] * (2 * targets - 1))
    else:
        each = np.log(np.exp(z - z.max(axis=1, keepdims=True)).sum(axis=1)) + z.max(axis=1)
        each -= z[np.arange(len(z)), targets]
    weights = np.divide(products, ratios, where=ratios != 0, out=np.zeros(products.shape))
    return (each * text_weights).sum() + (weights**2).sum() / (2 * INVERSE_PENALTY)


def problem(kind, texts, grams, seed):
    rng = np.random.default_rng(seed)
    rows = (rng.random((texts, grams)) < 0.2) / np.sqrt(rng.integers(1, 30, (texts, 1)))
    rows[-3:] = rows[:3]  # three texts occur twice; a copy may have another label than its original
    width = 1 if kind == "two" else 3
    if kind == "multi-label":
        targets = rng.random((texts, width)) < 0.3
    else:
        targets = rng.integers(0, 2 if kind == "two" else 3, texts)
    ratios = rng.normal(size=(grams, width)).astype(np.float32)
    return sp.csr_matrix(rows.astype(np.float32)), ratios, targets


@pytest.mark.parametrize("weights", [None, (0.5, 3), (1, 1e9)])
@pytest.mark.parametrize("kind", ["two", "three", "multi-label"])
def test_the_loss_is_as_low_as_that_of_a_search_among_all_weights(kind, weights):
    for seed, (texts, grams) in enumerate([(40, 300), (300, 40), (60, 60)]):
        rows, ratios, targets = problem(kind, texts, grams, seed)
        given = None if weights is None else np.random.default_rng(seed).uniform(*weights, texts)
        products, bias = fit_sparse(rows, ratios, targets, given)
        assert products.dtype == bias.dtype == np.float32
        primal, primal_bias = logistic_regression._minimise(
            lambda w, rows=rows, ratios=ratios: rows @ (w * ratios).astype(np.float32),
            lambda e, rows=rows, ratios=ratios: (rows.T @ e) * ratios,
            ratios.shape,
            targets,
            INVERSE_PENALTY,
            given,
        )
        told = rows, ratios, targets, 1.0 if given is None else given
        expected = losses_of(primal * ratios, primal_bias, *told)
        assert losses_of(products, bias, *told) <= expected * 1.001 + 1e-3


@pytest.mark.parametrize("targets", [np.zeros(30, int), np.ones(30, int)])
def test_only_one_class_occurs(targets):
    rows, ratios, _ = problem("two", 30, 50, 1)
    for given in (ratios, np.zeros_like(ratios)):  # if all ratios are 0, the outputs depend only on the bias
        products, bias = fit_sparse(rows, given, targets)
        assert (np.sign(rows @ products + bias)[:, 0] == 2 * targets - 1).all()


def test_texts_without_ngrams_give_the_log_odds_of_the_classes():
    targets = np.array([1] * 30 + [0] * 10)
    products, bias = fit_sparse(sp.csr_matrix((40, 7), dtype=np.float32), np.ones((7, 1), np.float32), targets)
    assert_allclose(bias, np.log(3), rtol=1e-3)
    assert not products.any()


def test_a_shortened_step_does_not_end_the_search():
    def minimum(seed, tolerance):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(20, 30)) * np.exp(2 * rng.normal(size=30)) * (rng.random((20, 30)) < 0.3)
        kernel, targets = rows @ rows.T, rng.random(20) < 0.5

        def loss_of(z):
            errors = sigmoid(z[:, 0]) - targets
            return float(np.logaddexp(0, np.where(targets, -z[:, 0], z[:, 0])).sum()), errors[:, None]

        texts, bias = minimise_in_span(lambda a: kernel @ a, loss_of, (20, 1), 10, tolerance, 1000)
        return loss_of(kernel @ texts + bias)[0] + float(np.vdot(texts, kernel @ texts)) / 20

    # If a shortened step could end the search, the losses of seeds 5, 40 and 73 would exceed the minimum by over 5%.
    assert [seed for seed in (5, 6, 40, 41, 73) if minimum(seed, 1e-5) > 1.05 * minimum(seed, 1e-10)] == []
