"""An encoder block: attention and a feed-forward network, each wrapped in a residual connection with layer norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.attention import Attention
from nlptx.nn.dropout import Dropout
from nlptx.nn.layer import Gradients, Layer
from nlptx.nn.layout import Layout
from nlptx.nn.norm import LayerNorm


class Residual(Layer):
    """Add the output of a sublayer f to its input, and normalise (add & norm).

        post:  y = norm(x + f(x))        pre:  y = x + f(norm(x))

    x is (N, D), y is (N, D).

    Args:
        sublayer: the layer f.
        width: D, the width of the model.
        norm_position: ``post``, as in the original transformer (Vaswani et al. 2017), or ``pre``.
        gain: whether the norm learns a gain and a bias.
        dropout: fraction of the output entries of f that are dropped during training.
    """

    def __init__(self, sublayer: Layer, width: int, norm_position: str, gain: bool, dropout: float) -> None:
        self.sublayer = sublayer
        self.norm = LayerNorm(width, gain)
        self.pre = norm_position == "pre"
        self.dropout = Dropout(dropout)

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        return (("f", self.sublayer), ("norm", self.norm))

    def forward(self, x: NDArray, layout: Layout, rng: np.random.Generator | None) -> tuple[NDArray, Any]:
        norm_cache = None
        f = x
        if self.pre:
            f, norm_cache = self.norm.forward(f)
        f, f_cache = self.sublayer.forward(f, layout, rng)
        f, dropout_cache = self.dropout.forward(f, layout, rng)
        y = x + f
        if not self.pre:
            y, norm_cache = self.norm.forward(y)
        return y, (norm_cache, f_cache, dropout_cache)

    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        if self.pre:
            return x + self.sublayer.apply(self.norm.apply(x, layout), layout)
        return self.norm.apply(x + self.sublayer.apply(x, layout), layout)

    # x affects y = x + f(x) by two paths, whose gradients add up: dx = dy + (dy backpropagated through f).
    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        norm_cache, f_cache, dropout_cache = cache
        if not self.pre:
            dy = self.norm.backward(dy, norm_cache, grads)
        df = self.dropout.backward(dy, dropout_cache, grads)
        dx = self.sublayer.backward(df, f_cache, grads)
        if self.pre:
            dx = self.norm.backward(dx, norm_cache, grads)
        return dx + dy


class EncoderBlock(Layer):
    """Let the tokens exchange information (attention), then transform each token (feed-forward), with add & norm.

    x is (N, D), y is (N, D).

    Args:
        attention: attention layer from (N, D) to (N, D), such as :class:`.MultiHeadAttention`.
        feed_forward: layer from (N, D) to (N, D), such as :class:`.FeedForward`.
        width: D, the width of the model.
        norm_position: ``post`` or ``pre`` (see :class:`Residual`).
        gain: whether the norms learn a gain and a bias.
        dropout: fraction of the output entries of ``attention`` and ``feed_forward`` that are dropped during training.
    """

    def __init__(
        self, attention: Attention, feed_forward: Layer, width: int, norm_position: str, gain: bool, dropout: float
    ) -> None:
        self._weights = attention.weights
        self.attention = Residual(attention, width, norm_position, gain, dropout)
        self.feed_forward = Residual(feed_forward, width, norm_position, gain, dropout)

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        return (("attention", self.attention), ("ffn", self.feed_forward))

    def forward(self, x: NDArray, layout: Layout, rng: np.random.Generator | None) -> tuple[NDArray, Any]:
        x, attention_cache = self.attention.forward(x, layout, rng)
        x, ffn_cache = self.feed_forward.forward(x, layout, rng)
        return x, (attention_cache, ffn_cache)

    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        return self.feed_forward.apply(self.attention.apply(x, layout), layout)

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        attention_cache, ffn_cache = cache
        dy = self.feed_forward.backward(dy, ffn_cache, grads)
        return self.attention.backward(dy, attention_cache, grads)

    def attention_weights(self, cache: Any) -> list[NDArray]:
        """Return the attention weights computed by ``forward``: an array (n, H, T, T) for each stack of windows."""
        _, attention_cache, _ = cache[0]
        return self._weights(attention_cache)
