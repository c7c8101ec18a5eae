"""The positionwise feed-forward network (FFN)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.activations import ACTIVATIONS
from nlptx.nn.layer import Gradients, Layer
from nlptx.nn.layout import Layout
from nlptx.nn.linear import Linear


class FeedForward(Layer):
    """Transform the vector of every token with the same two-layer network: y = f(x W_1 + b_1) W_2 + b_2.

    x is (N, D), W_1 (D, F), W_2 (F, D), y (N, D).

    Args:
        width: D, the width of the model.
        hidden: F, the hidden width of the network.
        activation: name of f, which is a key of ACTIVATIONS.
        rng: random generator for the initial weights.
    """

    def __init__(self, width: int, hidden: int, activation: str, rng: np.random.Generator) -> None:
        self.inner = Linear(width, hidden, rng)
        self.activation = ACTIVATIONS[activation]()
        self.outer = Linear(hidden, width, rng)

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        return (("inner", self.inner), ("outer", self.outer))

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        x, inner_cache = self.inner.forward(x, layout)  # (N, F)
        x, activation_cache = self.activation.forward(x, layout, rng)
        x, outer_cache = self.outer.forward(x, layout)  # (N, D)
        return x, (inner_cache, activation_cache, outer_cache)

    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        hidden = self.activation.apply(self.inner.apply(x, layout), layout)  # (N, F)
        return self.outer.apply(hidden, layout)  # (N, D)

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        inner_cache, activation_cache, outer_cache = cache
        dy = self.outer.backward(dy, outer_cache, grads)  # (N, F)
        dy = self.activation.backward(dy, activation_cache, grads)
        return self.inner.backward(dy, inner_cache, grads)  # (N, D)
