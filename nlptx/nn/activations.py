"""Elementwise activations f, and f'. Each backward multiplies by f' at the input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer
from nlptx.nn.layout import Layout


class Relu(Layer):
    """y = max(0, x)."""

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, NDArray]:
        # A row of zeros, as NumPy takes twice as long with a single one.
        y = np.maximum(x, np.zeros(x.shape[-1], x.dtype))
        return y, y

    # f' is 1 where x > 0, that is where y > 0, and 0 elsewhere.
    def backward(self, dy: NDArray, cache: NDArray, grads: Gradients | None = None) -> NDArray:
        y = cache
        return dy * (y > 0)


class Tanh(Layer):
    """y = tanh x."""

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, NDArray]:
        y = np.tanh(x)
        return y, y

    # tanh' = 1 - tanh^2
    def backward(self, dy: NDArray, cache: NDArray, grads: Gradients | None = None) -> NDArray:
        y = cache
        return dy * (1 - y * y)


def sigmoid(x: NDArray) -> NDArray:
    """Return 1 / (1 + exp(-x)), as (1 + tanh(x/2)) / 2, which cannot overflow."""
    return (np.tanh(x / 2) + 1) / 2


class Sigmoid(Layer):
    """y = 1 / (1 + exp(-x))."""

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, NDArray]:
        y = sigmoid(x)
        return y, y

    # s' = s (1 - s)
    def backward(self, dy: NDArray, cache: NDArray, grads: Gradients | None = None) -> NDArray:
        y = cache
        return dy * y * (1 - y)


class Gelu(Layer):
    """y = x (1 + tanh u) / 2 with u = sqrt(2/pi) (x + 0.044715 x^3), the tanh form of Hendrycks & Gimpel (2016)."""

    _A = 0.7978845608028654
    _B = 0.044715

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, Any]:
        square = x * x
        t = np.tanh(self._A * x * (1 + self._B * square))
        return x * (1 + t) / 2, (x, square, t)

    # y' = (1 + t)/2 + x (1 - t^2)/2 u'   with u' = A (1 + 3 B x^2)
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        x, square, t = cache
        slope = self._A * (1 + 3 * self._B * square)
        return dy * ((1 + t) / 2 + x * (1 - t * t) * slope / 2)


ACTIVATIONS: dict[str, type[Layer]] = {"relu": Relu, "gelu": Gelu, "tanh": Tanh, "sigmoid": Sigmoid}
