"""Activation functions f, applied elementwise. The backward pass multiplies dy by f'(x), the derivative of f at x."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer
from nlptx.nn.layout import Layout


class Relu(Layer):
    """Set negative entries to zero: y = max(0, x)."""

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, NDArray]:
        y = np.maximum(x, 0)
        return y, y

    # f'(x) is 1 where x > 0, and 0 elsewhere. Because y > 0 exactly where x > 0, only y is cached.
    def backward(self, dy: NDArray, cache: NDArray, grads: Gradients | None = None) -> NDArray:
        y = cache
        return dy * (y > 0)


class Tanh(Layer):
    """Squash every entry into (-1, 1): y = tanh x."""

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, NDArray]:
        y = np.tanh(x)
        return y, y

    # The derivative of tanh is 1 - tanh^2.
    def backward(self, dy: NDArray, cache: NDArray, grads: Gradients | None = None) -> NDArray:
        y = cache
        return dy * (1 - y * y)


def logit(p: NDArray) -> NDArray:
    """Return the log-odds log(p / (1 - p)).

    p is clipped to [h, 1 - h], where 1 - h is the largest number below 1. A p of 0 or 1 from :func:`sigmoid` is only
    known to this precision.
    """
    h = np.finfo(p.dtype).epsneg
    clipped = np.clip(p, h, 1 - h)
    return np.log(clipped) - np.log1p(-clipped)


def sigmoid(x: NDArray) -> NDArray:
    """Return 1 / (1 + exp(-x)), computed as (1 + tanh(x/2)) / 2, which cannot overflow."""
    return (np.tanh(x / 2) + 1) / 2


class Sigmoid(Layer):
    """Squash every entry into (0, 1): y = 1 / (1 + exp(-x))."""

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, NDArray]:
        y = sigmoid(x)
        return y, y

    # The derivative of the sigmoid s is s' = s (1 - s).
    def backward(self, dy: NDArray, cache: NDArray, grads: Gradients | None = None) -> NDArray:
        y = cache
        return dy * y * (1 - y)


class Gelu(Layer):
    """Multiply every entry by the approximate probability that a standard normal variable is below this entry.

        y = x (1 + tanh u) / 2    with    u = sqrt(2/pi) (x + 0.044715 x^3)

    Source: the tanh form of Hendrycks & Gimpel (2016), "Gaussian error linear units".
    """

    _A = 0.7978845608028654  # sqrt(2/pi)
    _B = 0.044715

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, Any]:
        square = x * x
        t = np.tanh(self._A * x * (1 + self._B * square))
        return x * (1 + t) / 2, (x, square, t)

    # The product rule, with t = tanh u and t' = (1 - t^2) u':
    #   y' = (1 + t)/2 + x (1 - t^2) u' / 2    with    u' = A (1 + 3 B x^2)
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        x, square, t = cache
        du = self._A * (1 + 3 * self._B * square)
        return dy * ((1 + t) / 2 + x * (1 - t * t) * du / 2)


ACTIVATIONS: dict[str, type[Layer]] = {"relu": Relu, "gelu": Gelu, "tanh": Tanh, "sigmoid": Sigmoid}
