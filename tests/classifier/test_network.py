"""Tests of the network: gradients, masks, independence of texts, positions, dropout and parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gradcheck import check_gradients, layer_gradients, randomise
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import nlptx
from nlptx.classifier.network import Network
from nlptx.errors import SettingsError
from nlptx.nn import Dropout, Layout, SinusoidalPositions
from nlptx.nn.positions import sinusoids
from nlptx.settings import NetworkSettings, TrainSettings

COMPONENTS = 5
LENGTHS = (3, 1, 7, 2, 2, 4)

# Each network differs from the others in a component that gradients flow through.
NETWORKS: dict[str, dict[str, Any]] = {
    "scaled, narrow, pre-norm, mean": {},
    "qkv, narrow, post-norm, max": {"attention": "qkv", "norm": "post", "pool": "max"},
    "qkv, wide, pre-norm, first": {"attention": "qkv", "head_width": "wide", "pool": "first"},
    "plain, post-norm without gain": {"attention": "plain", "norm": "post", "norm_gain": False},
    "plain, causal, attention pool": {"attention": "plain", "causal": True, "pool": "attention"},
    "scaled, causal, learned positions": {"causal": True, "positions": "learned", "blocks": 2},
    "wide, post-norm, flatten, squared error": {
        "blocks": 2,
        "heads": 3,
        "head_width": "wide",
        "norm": "post",
        "norm_gain": False,
        "pool": "flatten",
        "long_texts": "head",
        "loss": "squared-error",
    },
    "gelu, no positions, squared error": {"activation": "gelu", "positions": "none", "loss": "squared-error"},
    "tanh, width of the word vectors": {"activation": "tanh", "width": 0, "heads": 5, "blocks": 2},
    "sigmoid, attention pool, learned positions": {
        "activation": "sigmoid",
        "pool": "attention",
        "positions": "learned",
    },
    "no blocks": {"blocks": 0},
    "training with dropout": {"dropout": 0.25, "blocks": 2},
}
every_network = pytest.mark.parametrize("name", NETWORKS)


def settings_of(name: str, **more: Any) -> NetworkSettings:
    small: dict[str, Any] = {"width": 6, "heads": 2, "hidden": 7, "attention_window": 4, "dropout": 0.0}
    return NetworkSettings(**(small | NETWORKS.get(name, {}) | more))


def network_of(settings: NetworkSettings, dtype: Any = np.float64) -> Network:
    classes = 2 if settings.loss == "squared-error" else 3
    network = Network(settings, COMPONENTS, classes, np.random.default_rng(1))
    randomise(network, dtype=dtype)
    return network


def texts_of(settings: NetworkSettings, dtype: Any = np.float64) -> list[NDArray]:
    longest = settings.attention_window if settings.long_texts == "head" else max(LENGTHS)
    rng = np.random.default_rng(2)
    return [rng.normal(size=(min(n, longest), COMPONENTS)).astype(dtype) for n in LENGTHS]


def layout_of(settings: NetworkSettings, texts: list[NDArray]) -> Layout:
    return Layout(np.array([len(text) for text in texts]), settings.attention_window, settings.causal)


def logits(network: Network, settings: NetworkSettings, texts: list[NDArray]) -> NDArray:
    return network.forward(np.concatenate(texts), layout_of(settings, texts), None)[0]


@every_network
def test_gradients_of_the_loss_equal_central_differences(name: str) -> None:
    settings = settings_of(name)
    network, texts = network_of(settings), texts_of(settings)
    targets = np.arange(len(texts)) % network.loss.classes

    def objective(outputs: NDArray) -> tuple[float, NDArray]:
        value, gradient = network.loss.value_and_gradient(outputs, targets)
        return float(value.sum()), gradient

    def generator() -> np.random.Generator | None:
        return np.random.default_rng(5) if settings.dropout else None

    layout = layout_of(settings, texts)
    loss, arrays = layer_gradients(network, np.concatenate(texts), layout, generator, objective)
    for parameter, (_, gradient) in arrays.items():
        assert gradient.any(), f"{parameter} has a zero gradient, so the check would be meaningless"
    # The tests of the layers check every entry of all arrays; here it is enough to check every entry of small arrays.
    check_gradients(loss, arrays, small=20)


@every_network
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_logits_of_a_text_do_not_depend_on_the_other_texts(name: str, dtype: Any, tolerance: float) -> None:
    settings = settings_of(name)
    network, texts = network_of(settings, dtype), texts_of(settings, dtype)
    together = logits(network, settings, texts)
    order = [4, 2, 0, 5, 1, 3]
    shuffled = logits(network, settings, [texts[i] for i in order])
    alone = np.concatenate([logits(network, settings, [text]) for text in texts])
    scale = np.abs(together).max()
    assert_allclose(shuffled, together[order], rtol=0, atol=tolerance * scale)
    assert_allclose(alone, together, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("attention", ["scaled", "qkv", "plain"])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_weights_sum_to_one_and_are_exactly_zero_where_masked(attention: str, causal: bool) -> None:
    settings = settings_of("", attention=attention, causal=causal, blocks=2)
    network, texts = network_of(settings), texts_of(settings)
    layout = layout_of(settings, texts)
    _, cache = network.encoder.forward(np.concatenate(texts), layout, None)
    blocks = network.encoder.attention_weights(cache)
    assert len(blocks) == 2
    for stacks in blocks:
        heads = 1 if attention == "plain" else 2
        assert [p.shape for p in stacks] == [(n, heads, t, t) for _, n, t in layout.stack_shapes]
        for p in stacks:
            assert_allclose(p.sum(axis=-1), 1, rtol=1e-12)
            visible = np.tri(p.shape[-1], dtype=bool) if causal else np.ones(p.shape[-2:], bool)
            assert (p[..., visible] > 0).all()
            assert (p[..., ~visible] == 0).all()


@pytest.mark.parametrize("attention", ["scaled", "plain"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_causal_attention_ignores_later_words(attention: str, norm: str) -> None:
    settings = settings_of("", causal=True, blocks=2, attention_window=8, attention=attention, norm=norm)
    encoder = network_of(settings).encoder
    x = np.random.default_rng(2).normal(size=(7, COMPONENTS))
    lengths = np.array([7])
    for changed in range(7):
        other = x.copy()
        other[changed] += 1
        before, after = (encoder.forward(v, Layout(lengths, 8, causal=True), None)[0] for v in (x, other))
        assert_array_equal(after[:changed], before[:changed])
        assert (after[changed:] != before[changed:]).any(axis=1).all()
        before, after = (encoder.forward(v, Layout(lengths, 8), None)[0] for v in (x, other))
        assert (after != before).any(axis=1).all()


def test_attention_ignores_words_of_other_windows() -> None:
    settings = settings_of("", blocks=2)
    encoder = network_of(settings).encoder
    x = np.random.default_rng(2).normal(size=(7, COMPONENTS))
    other = x.copy()
    other[4:] += 1
    before, after = (encoder.forward(v, Layout(np.array([7]), 4), None)[0] for v in (x, other))
    assert_array_equal(after[:4], before[:4])
    assert (after[4:] != before[4:]).any(axis=1).all()


@pytest.mark.parametrize("width", [1, 6, 7, 128])
def test_sinusoids_follow_the_formula_of_vaswani(width: int) -> None:
    table = sinusoids(20, width)
    assert table.shape == (20, width)
    for position in range(20):
        for column in range(width):
            angle = position / math.pow(10_000, (column - column % 2) / width)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert table[position, column] == pytest.approx(expected, abs=1e-12)


def test_positions_count_from_zero_in_each_window() -> None:
    y, _ = SinusoidalPositions().forward(np.zeros((10, 6)), Layout(np.array([3, 7]), 4))
    assert_array_equal(y, sinusoids(4, 6)[[0, 1, 2, 0, 1, 2, 3, 0, 1, 2]])


def test_narrow_heads_must_divide_the_width() -> None:
    with pytest.raises(SettingsError, match="width 6 cannot be divided among 4 narrow heads"):
        network_of(settings_of("", heads=4))
    network_of(settings_of("", heads=4, head_width="wide"))
    network_of(settings_of("", heads=4, attention="plain"))


def test_the_number_of_heads_is_checked_before_word_vectors_are_made() -> None:
    texts, progress = ["good film", "bad film"] * 5, []
    with pytest.raises(SettingsError, match="width 64 cannot be divided among 3 narrow heads"):
        nlptx.fit(texts, [1, 0] * 5, settings=TrainSettings(heads=3), on_progress=progress.append)
    assert progress == []


def test_squared_error_requires_two_labels() -> None:
    with pytest.raises(SettingsError, match="2 labels; the data has 3"):
        Network(settings_of("", loss="squared-error"), COMPONENTS, 3, np.random.default_rng(1))


def test_flatten_requires_texts_truncated_to_the_window() -> None:
    with pytest.raises(SettingsError, match="flatten"):
        settings_of("", pool="flatten")


@pytest.mark.parametrize("position_of_dropout", ["words", "attention", "feed-forward", "head"])
def test_dropout_acts_at_every_position_in_the_network(position_of_dropout: str) -> None:
    settings = settings_of("", dropout=0.5)
    network, texts = network_of(settings), texts_of(settings)
    block = network.encoder.blocks[0]
    layers = {"words": network.encoder, "attention": block.attention, "feed-forward": block.feed_forward}
    for name, layer in (layers | {"head": network}).items():
        if name != position_of_dropout:
            layer.dropout = Dropout(0)
    x, layout = np.concatenate(texts), layout_of(settings, texts)
    trained, _ = network.forward(x, layout, np.random.default_rng(1))
    assert (trained != network.forward(x, layout, None)[0]).any(axis=1).all()


@pytest.mark.parametrize(("head_width", "inner"), [("narrow", 6), ("wide", 12)])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_parameters_and_their_shapes(head_width: str, inner: int, norm: str) -> None:
    network = network_of(settings_of("", head_width=head_width, norm=norm))
    block = {
        "attention.f.qkv.W": (6, 3 * inner),
        "attention.f.out.W": (inner, 6),
        "ffn.f.inner.W": (6, 7),
        "ffn.f.inner.b": (7,),
        "ffn.f.outer.W": (7, 6),
        "ffn.f.outer.b": (6,),
    } | {f"{part}.norm.{name}": (6,) for part in ("attention", "ffn") for name in "gb"}
    expected = {f"encoder.block0.{name}": shape for name, shape in block.items()}
    expected |= {"encoder.projection.W": (5, 6), "head.W": (6, 3), "head.b": (3,)}
    if norm == "pre":
        expected |= {"encoder.norm.g": (6,), "encoder.norm.b": (6,)}
    assert {name: p.value.shape for name, p in network.parameters()} == expected


def test_the_same_generator_gives_the_same_network() -> None:
    def weights(seed: int) -> list[NDArray]:
        network = Network(settings_of("", blocks=2), COMPONENTS, 2, np.random.default_rng(seed))
        return [p.value for _, p in network.parameters()]

    first, again, other = weights(1), weights(1), weights(2)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
