"""The encoder: word vectors -> (projection) -> (positions) -> blocks -> contextual vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn import (
    Attention,
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
)
from nlptx.settings import NetworkSettings


class Encoder(Layer):
    """The layer that maps the word vectors (N, R) of N words to contextual vectors (N, D).

    The encoder consists of these steps, where the steps in parentheses are optional::

        (projection, if R is not D) -> (positions) -> dropout -> blocks -> (layer norm, if the blocks are pre-norm)

    Args:
        settings: architecture of the network.
        components: R, the length of the word vectors.
        rng: source of randomness for the initial weights.

    Attributes:
        width: D, the length of the contextual vectors.

    Raises:
        SettingsError: the heads are narrow (width D / H, where H is the number of heads), and D is not a multiple of H.
    """

    def __init__(self, settings: NetworkSettings, components: int, rng: np.random.Generator) -> None:
        width = settings.width or components
        self.width = width
        self.projection = Linear(components, width, rng, bias=False) if width != components else None
        self.positions: Layer | None = None
        if settings.positions == "sinusoidal":
            self.positions = SinusoidalPositions()
        elif settings.positions == "learned":
            self.positions = LearnedPositions(settings.attention_window, width, rng)
        self.dropout = Dropout(settings.dropout)
        self.blocks = [_block(settings, width, rng) for _ in range(settings.blocks)]
        self.norm = LayerNorm(width, settings.norm_gain) if settings.norm == "pre" else None

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        layers: list[tuple[str, Layer | None]] = [
            ("projection", self.projection),
            ("positions", self.positions),
            ("dropout", self.dropout),
            *((f"block{i}", block) for i, block in enumerate(self.blocks)),
            ("norm", self.norm),
        ]
        return [(name, layer) for name, layer in layers if layer is not None]

    def forward(self, x: NDArray, layout: Layout, rng: np.random.Generator | None) -> tuple[NDArray, Any]:
        caches = []
        for _, layer in self.sublayers():
            x, cache = layer.forward(x, layout, rng)  # (N, D) after the projection
            caches.append(cache)
        return x, caches

    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        for _, layer in self.sublayers():
            x = layer.apply(x, layout)  # (N, D) after the projection
        return x

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        for (_, layer), layer_cache in zip(reversed(self.sublayers()), reversed(cache), strict=True):
            dy = layer.backward(dy, layer_cache, grads)  # (N, D); (N, R) after the backward pass of the projection
        return dy

    def attention_weights(self, cache: Any) -> list[list[NDArray]]:
        """Return the attention weights that a call of :meth:`forward` computed, given the cache of that call.

        The result contains one list per block. Each list contains one array (n, H, T, T) for each stack (n consecutive
        windows of T words each), where H is the number of heads.
        """
        calls = zip(self.sublayers(), cache, strict=True)
        return [layer.attention_weights(c) for (_, layer), c in calls if isinstance(layer, EncoderBlock)]


def _block(settings: NetworkSettings, width: int, rng: np.random.Generator) -> EncoderBlock:
    feed_forward = FeedForward(width, settings.hidden or 4 * width, settings.activation, rng)
    attention = _attention(settings, width, rng)
    return EncoderBlock(attention, feed_forward, width, settings.norm, settings.norm_gain, settings.dropout)


def _attention(settings: NetworkSettings, width: int, rng: np.random.Generator) -> Attention:
    if settings.attention == "plain":
        return PlainAttention()
    scaled = settings.attention == "scaled"
    return MultiHeadAttention(width, settings.heads, settings.width_of_head(width), scaled, rng)
