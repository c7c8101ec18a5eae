"""Tests of the properties that every layer must have, for all layers in the table CASES."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from gradcheck import check_gradients, layer_gradients, randomise
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

import nlptx.nn
from nlptx.classifier.encoder import Encoder
from nlptx.classifier.network import Network
from nlptx.nn import (
    ACTIVATIONS,
    POOLS,
    Dropout,
    EncoderBlock,
    FeedForward,
    Gradients,
    Layer,
    LayerNorm,
    Layout,
    LearnedPositions,
    Linear,
    MultiHeadAttention,
    PlainAttention,
    SinusoidalPositions,
    WeightedSum,
)
from nlptx.nn.block import Residual
from nlptx.settings import NetworkSettings

WIDTH, HEADS, HIDDEN, COMPONENTS = 6, 2, 7, 5
# One text is longer than the window of 4, one is a single word, and two adjacent texts have the same length.
LENGTHS = (3, 1, 7, 2, 2)
OTHER_LENGTHS = (2, 6, 3)


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[np.random.Generator], Layer]
    inputs: int = WIDTH
    window: int = 4
    causal: bool = False
    training: bool = False

    def layer(self, dtype: Any = np.float64) -> Layer:
        layer = self.make(np.random.default_rng(1))
        randomise(layer, dtype=dtype)
        return layer

    def layout(self, lengths: Sequence[int] = LENGTHS) -> Layout:
        return Layout(np.array(lengths), self.window, self.causal)

    def x(self, lengths: Sequence[int] = LENGTHS, dtype: Any = np.float64) -> NDArray:
        return np.random.default_rng(2).normal(size=(sum(lengths), self.inputs)).astype(dtype)

    def generator(self) -> np.random.Generator | None:
        return np.random.default_rng(5) if self.training else None


def ffn(rng: np.random.Generator, activation: str = "tanh") -> FeedForward:
    return FeedForward(WIDTH, HIDDEN, activation, rng)


def heads(rng: np.random.Generator, head_width: str = "narrow", scaled: bool = True) -> MultiHeadAttention:
    return MultiHeadAttention(WIDTH, HEADS, WIDTH if head_width == "wide" else WIDTH // HEADS, scaled, rng)


def block(rng: np.random.Generator, order: str, gain: bool, dropout: float) -> EncoderBlock:
    return EncoderBlock(heads(rng), ffn(rng), WIDTH, order, gain, dropout)


SMALL_NETWORK = NetworkSettings(
    width=WIDTH,
    blocks=2,
    heads=HEADS,
    hidden=HIDDEN,
    attention_window=4,
    positions="learned",
    pool="attention",
    dropout=0.25,
)

CASES = [
    Case("linear", lambda rng: Linear(WIDTH, 3, rng)),
    Case("linear without bias", lambda rng: Linear(WIDTH, 3, rng, bias=False)),
    Case("weighted sum", lambda rng: WeightedSum(2, WIDTH // 2)),
    *(Case(name, lambda rng, make=make: make()) for name, make in ACTIVATIONS.items()),
    Case("layer norm", lambda rng: LayerNorm(WIDTH)),
    Case("layer norm without gain", lambda rng: LayerNorm(WIDTH, gain=False)),
    Case("plain attention", lambda rng: PlainAttention()),
    Case("plain attention, causal", lambda rng: PlainAttention(), causal=True),
    *(
        Case(
            f"{width} heads{', scaled' * scaled}{', causal' * causal}",
            lambda rng, width=width, scaled=scaled: heads(rng, width, scaled),
            causal=causal,
        )
        for width, scaled, causal in product(("narrow", "wide"), (True, False), (True, False))
    ),
    *(Case(f"feed-forward, {name}", lambda rng, name=name: ffn(rng, name)) for name in ACTIVATIONS),
    Case("pre-norm residual", lambda rng: Residual(ffn(rng), WIDTH, "pre", True, 0.0)),
    Case("post-norm residual", lambda rng: Residual(ffn(rng), WIDTH, "post", True, 0.25), training=True),
    Case("pre-norm block", lambda rng: block(rng, "pre", True, 0.0)),
    Case("post-norm block", lambda rng: block(rng, "post", True, 0.0), causal=True),
    Case("pre-norm block without gain, training", lambda rng: block(rng, "pre", False, 0.25), training=True),
    Case("post-norm block without gain, training", lambda rng: block(rng, "post", False, 0.25), training=True),
    Case("dropout, training", lambda rng: Dropout(0.25), training=True),
    Case("dropout, not training", lambda rng: Dropout(0.25)),
    Case("sinusoidal positions", lambda rng: SinusoidalPositions()),
    Case("learned positions", lambda rng: LearnedPositions(4, WIDTH, rng)),
    # The pooling layer that flattens supports only one window per text; all others combine the windows of a text.
    *(
        Case(f"{name} pool", lambda rng, make=make: make(WIDTH, 8), window=8 if name == "flatten" else 4)
        for name, make in POOLS.items()
    ),
    Case("encoder", lambda rng: Encoder(SMALL_NETWORK, COMPONENTS, rng), inputs=COMPONENTS),
    Case("network", lambda rng: Network(SMALL_NETWORK, COMPONENTS, 3, rng), inputs=COMPONENTS, training=True),
]

every_layer = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def gradients_of(layer: Layer, start: float = 0, dtype: Any = np.float64) -> Gradients:
    return Gradients(np.full(sum(p.value.size for _, p in layer.parameters()), start, dtype))


def layer_classes() -> set[type[Layer]]:
    for module in pkgutil.walk_packages(nlptx.nn.__path__, "nlptx.nn."):
        importlib.import_module(module.name)

    def below(cls: type[Layer]) -> Iterator[type[Layer]]:
        for sub in cls.__subclasses__():
            yield sub
            yield from below(sub)

    concrete = {cls for cls in below(Layer) if cls.forward is not Layer.forward}
    return {cls for cls in concrete if cls.__module__.startswith(("nlptx.nn.", "nlptx.classifier."))}


def test_every_layer_class_is_in_the_table() -> None:
    missing = layer_classes() - {type(case.layer()) for case in CASES}
    assert not missing, f"add to CASES: {sorted(cls.__name__ for cls in missing)}"


@every_layer
def test_gradients_equal_central_differences(case: Case) -> None:
    check_gradients(*layer_gradients(case.layer(), case.x(), case.layout(), case.generator))


@every_layer
def test_interleaved_calls_equal_separate_calls(case: Case) -> None:
    layer = case.layer()
    inputs = [(case.x(lengths), case.layout(lengths)) for lengths in (LENGTHS, OTHER_LENGTHS)]

    def forward(x: NDArray, layout: Layout) -> tuple[NDArray, Any]:
        return layer.forward(x, layout, case.generator())

    def backward(y: NDArray, cache: Any) -> tuple[NDArray, NDArray]:
        grads = gradients_of(layer)
        return layer.backward(np.cos(y), cache, grads), grads.flat

    separate = [backward(*forward(*each)) for each in inputs]
    calls = [forward(*each) for each in inputs]
    together = [backward(*call) for call in calls]
    for (dx, flat), (expected_dx, expected_flat) in zip(together, separate, strict=True):
        assert_array_equal(dx, expected_dx)
        assert_array_equal(flat, expected_flat)


@every_layer
def test_a_batch_gives_the_same_outputs_as_each_text_alone(case: Case) -> None:
    layer, x, layout = case.layer(), case.x(), case.layout()
    together, _ = layer.forward(x, layout, None)
    ends = np.cumsum(LENGTHS)
    alone = [layer.forward(x[end - n : end], case.layout([n]), None)[0] for n, end in zip(LENGTHS, ends, strict=True)]
    assert_allclose(together, np.concatenate(alone), rtol=1e-12, atol=1e-12)


@every_layer
def test_forward_and_backward_do_not_modify_arguments_or_weights(case: Case) -> None:
    layer, x = case.layer(), case.x()
    weights = [p.value.copy() for _, p in layer.parameters()]
    y, cache = layer.forward(x, case.layout(), case.generator())
    dy = np.cos(y)
    layer.backward(dy, cache, gradients_of(layer))
    assert_array_equal(x, case.x())
    assert_array_equal(dy, np.cos(y))
    for before, (_, parameter) in zip(weights, layer.parameters(), strict=True):
        assert_array_equal(parameter.value, before)


@every_layer
def test_apply_equals_forward_outside_training(case: Case) -> None:
    layer, x, layout = case.layer(), case.x(), case.layout()
    assert_array_equal(layer.apply(x, layout), layer.forward(x, layout, None)[0])
    assert_array_equal(x, case.x())


@every_layer
def test_backward_adds_to_the_gradients(case: Case) -> None:
    layer = case.layer()
    y, cache = layer.forward(case.x(), case.layout(), case.generator())
    once, more = gradients_of(layer), gradients_of(layer, start=5)
    first = layer.backward(np.cos(y), cache, once)
    layer.backward(np.cos(y), cache, more)
    second = layer.backward(np.cos(y), cache, more)
    assert_array_equal(first, second)
    assert_allclose(more.flat, 5 + 2 * once.flat, rtol=1e-12, atol=1e-12)


@every_layer
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_and_gradients_keep_the_dtype_of_the_input(case: Case, dtype: Any) -> None:
    layer, exact = case.layer(dtype), case.layer()
    grads = gradients_of(layer, dtype=dtype)
    y, cache = layer.forward(case.x(dtype=dtype), case.layout(), case.generator())
    dx = layer.backward(np.ones_like(y), cache, grads)
    assert (y.dtype, dx.dtype) == (dtype, dtype)
    expected, _ = exact.forward(case.x(), case.layout(), case.generator())
    assert_allclose(y, expected, rtol=1e-4, atol=1e-5)


def test_windows_split_a_text_nearly_equally() -> None:
    for window in range(1, 7):
        lengths = np.arange(1, 14)
        expected = [len(part) for n in lengths for part in np.array_split(np.arange(n), -(-n // window))]
        layout = Layout(lengths, window)
        assert layout.windows.tolist() == expected
        assert [t for _, n, t in layout.stack_shapes for _ in range(n)] == expected
        assert_array_equal(np.concatenate([v.ravel() for v in layout.stacks(np.arange(91)[:, None])]), np.arange(91))
