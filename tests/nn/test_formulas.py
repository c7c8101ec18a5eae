"""The outputs of the layers are compared with their formulas, computed one number at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.nn import ACTIVATIONS, POOLS, Dropout, FeedForward, LayerNorm, Layout, MultiHeadAttention
from nlptx.nn.activations import logit, sigmoid
from nlptx.nn.block import Residual
from nlptx.nn.pooling import AttentionPool

LAYOUT = Layout(np.array([2, 3]), 4)
X = np.random.default_rng(1).normal(size=(5, 4))

BY_HAND = {
    "relu": lambda x: x if x > 0 else 0.0,
    "tanh": lambda x: (math.exp(2 * x) - 1) / (math.exp(2 * x) + 1),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "gelu": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(name: str) -> None:
    y, _ = ACTIVATIONS[name]().forward(3 * X, LAYOUT, None)
    assert_allclose(y, [[BY_HAND[name](3 * x) for x in row] for row in X], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_logit_is_the_inverse_of_the_sigmoid(dtype: type) -> None:
    z = np.array([-5, -0.1, 0, 3, 8], dtype)
    assert_allclose(logit(sigmoid(z)), z, rtol=1e-4, atol=1e-6)
    assert logit(sigmoid(z)).dtype == dtype
    # Above this bound, 1 - p is below the precision of p; the log-odds are cut off near it.
    bound = -np.log(np.finfo(dtype).epsneg)
    assert_allclose(logit(np.array([0, 1], dtype)), [-bound, bound], rtol=1e-6)
    assert_allclose(logit(sigmoid(np.array([-500, 500], dtype))), [-bound, bound], rtol=1e-6)


def test_layer_norm_divides_by_the_root_of_the_variance_plus_epsilon() -> None:
    y, _ = LayerNorm(4, gain=False).forward(0.01 * X, LAYOUT, None)
    for row, normed in zip(0.01 * X, y, strict=True):
        mean = math.fsum(row) / 4
        variance = math.fsum((v - mean) ** 2 for v in row) / 4
        assert_allclose(normed, [(v - mean) / math.sqrt(variance + 1e-5) for v in row], rtol=1e-12)


@pytest.mark.parametrize(("scaled", "scale"), [(True, 1 / math.sqrt(3)), (False, 1.0)])
def test_attention_averages_values_weighted_by_the_softmax_over_keys(scaled: bool, scale: float) -> None:
    layer = MultiHeadAttention(4, 2, 3, scaled, np.random.default_rng(2))
    q, k, v = np.split(X @ layer.qkv.weight.value, 3, axis=1)
    expected = np.zeros((5, 6))
    for text in (range(2), range(2, 5)):
        for head in (slice(0, 3), slice(3, 6)):
            for query in text:
                weights = [math.exp(scale * q[query, head] @ k[key, head]) for key in text]
                mixed = sum(w * v[key, head] for w, key in zip(weights, text, strict=True))
                expected[query, head] = mixed / math.fsum(weights)
    assert_allclose(layer.forward(X, LAYOUT)[0], expected @ layer.out.weight.value, rtol=1e-12, atol=1e-14)


def test_pools() -> None:
    first, second = X[:2], X[2:]
    expected = {
        "mean": [first.mean(axis=0), second.mean(axis=0)],
        "max": [first.max(axis=0), second.max(axis=0)],
        "first": [first[0], second[0]],
        "attention": [first.mean(axis=0), second.mean(axis=0)],  # the query is initialised to 0
        "flatten": [[*first.ravel(), *[0] * 8], [*second.ravel(), *[0] * 4]],
    }
    assert expected.keys() == POOLS.keys()
    for name, rows in expected.items():
        assert_allclose(POOLS[name](4, 4).forward(X, LAYOUT, None)[0], rows, rtol=1e-12)


def test_attention_pool_weights_tokens_by_the_softmax_of_their_scores() -> None:
    layer = AttentionPool(4, 4)
    layer.query.value[:] = [1, -2, 0, 3]
    y, _ = layer.forward(X, LAYOUT)
    for text, row in zip((X[:2], X[2:]), y, strict=True):
        weights = [math.exp(x[0] - 2 * x[1] + 3 * x[3]) for x in text]
        assert_allclose(row, sum(w * x for w, x in zip(weights, text, strict=True)) / math.fsum(weights), rtol=1e-12)


def test_dropout_drops_the_given_fraction_and_rescales_the_rest() -> None:
    ones = np.ones((200, 100))
    y, _ = Dropout(0.25).forward(ones, None, np.random.default_rng(1))
    assert set(np.unique(y)) == {0, 1 / 0.75}
    assert abs((y == 0).mean() - 0.25) < 0.02  # six standard deviations
    other, _ = Dropout(0.25).forward(ones, None, np.random.default_rng(2))
    assert (y != other).any()


@pytest.mark.parametrize(("p", "training"), [(0.25, False), (0.0, True)])
def test_dropout_changes_nothing_outside_training_or_with_probability_0(p: float, training: bool) -> None:
    y, _ = Dropout(p).forward(X, LAYOUT, np.random.default_rng(1) if training else None)
    assert_array_equal(y, X)


def test_the_norm_comes_before_the_sublayer_or_after_the_sum() -> None:
    f = FeedForward(4, 7, "tanh", np.random.default_rng(2))
    norm = LayerNorm(4)
    pre, _ = Residual(f, 4, "pre", True, 0.0).forward(X, LAYOUT, None)
    post, _ = Residual(f, 4, "post", True, 0.0).forward(X, LAYOUT, None)
    assert_allclose(pre, X + f.forward(norm.forward(X)[0], LAYOUT)[0], rtol=1e-12)
    assert_allclose(post, norm.forward(X + f.forward(X, LAYOUT)[0])[0], rtol=1e-12)
