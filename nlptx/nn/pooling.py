"""From the vectors of a text's tokens, (N, D), to one vector a text, (B, D).

A text too long to be in memory at once is pooled in parts, which are then merged: with u the logarithm of the
weight of each part, a mean of parts is their mean with weights exp(u).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer, Parameter
from nlptx.nn.layout import Layout


class Pool(Layer):
    """Base class.

    Args:
        width: D.
        window: most tokens of a text, where it matters.
    """

    def __init__(self, width: int, window: int) -> None:
        self.width = width

    def log_weights(self, x: NDArray, layout: Layout) -> NDArray:
        """Return (B,): the logarithm of what each of B parts weighs beside the others of its text."""
        return np.zeros(len(layout.lengths))

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        """Return the vectors (B, D) of texts, given those of their parts.

        Args:
            y: (P, D) vectors of the parts.
            log_weights: (P,) see :meth:`log_weights`.
            layout: how many parts each of the B texts has.
        """
        raise NotImplementedError


def _weighted_mean(y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
    a = _softmax(log_weights, layout).astype(y.dtype)
    mean: NDArray = np.add.reduceat(a[:, None] * y, layout.starts, axis=0)
    return mean


def _softmax(scores: NDArray, layout: Layout) -> NDArray:
    """Return the softmax of the scores (N,) over each text."""
    a = np.exp(scores - np.repeat(np.maximum.reduceat(scores, layout.starts), layout.lengths))
    a /= np.repeat(np.add.reduceat(a, layout.starts), layout.lengths)
    return a


class MeanPool(Pool):
    """y_b = mean of the rows of text b."""

    def log_weights(self, x: NDArray, layout: Layout) -> NDArray:
        return np.log(layout.lengths)

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        return _weighted_mean(y, log_weights, layout)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        lengths = layout.lengths.astype(x.dtype)[:, None]
        # A product with ones sums a window, and holds no lock the while, as np.add.reduceat does.
        sums = np.concatenate([np.ones(run.shape[1], x.dtype) @ run for run in layout.views(x)])
        if len(sums) > len(lengths):
            sums = np.add.reduceat(sums, np.cumsum(layout.pieces) - layout.pieces, axis=0)
        return sums / lengths, (lengths, layout)

    # Each of the L rows of a text went in with weight 1/L.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        lengths, layout = cache
        return np.repeat(dy / lengths, layout.lengths, axis=0)


class MaxPool(Pool):
    """y_bd = largest entry of column d among the rows of text b."""

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        largest: NDArray = np.maximum.reduceat(y, layout.starts, axis=0)
        return largest

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        rows = np.empty((len(layout.lengths), x.shape[1]), np.int64)
        for text, (start, length) in enumerate(zip(layout.starts, layout.lengths, strict=True)):
            rows[text] = x[start : start + length].argmax(axis=0) + start
        return np.take_along_axis(x, rows, axis=0), (rows, x.shape)

    # Only the (first) largest entry had any influence.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        rows, shape = cache
        dx = np.zeros(shape, dy.dtype)
        np.put_along_axis(dx, rows, dy, axis=0)
        return dx


class FirstPool(Pool):
    """y_b = first row of text b."""

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        return y[layout.starts]

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        return x[layout.starts], (layout, x.shape)

    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        layout, shape = cache
        dx = np.zeros(shape, dy.dtype)
        dx[layout.starts] = dy
        return dx


class AttentionPool(Pool):
    """y_b = sum_t a_t x_t with a = softmax over the text of x_t . w, for a learned query w."""

    def __init__(self, width: int, window: int) -> None:
        super().__init__(width, window)
        self.query = Parameter("w", np.zeros(width))

    def own_parameters(self) -> Sequence[Parameter]:
        return (self.query,)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        a = _softmax(self._scores(x, layout), layout)
        y = np.add.reduceat(a[:, None] * x, layout.starts, axis=0)
        return y, (x, a, y, layout)

    def _scores(self, x: NDArray, layout: Layout) -> NDArray:
        return layout.product(x, self.query.value[:, None])[:, 0]

    # The denominator of the softmax over the rows of a part.
    def log_weights(self, x: NDArray, layout: Layout) -> NDArray:
        scores = self._scores(x, layout)
        largest = np.maximum.reduceat(scores, layout.starts)
        sums = np.add.reduceat(np.exp(scores - np.repeat(largest, layout.lengths)), layout.starts)
        return largest + np.log(sums)

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        return _weighted_mean(y, log_weights, layout)

    # dy/da_t = x_t, and the softmax as in attention: ds_t = a_t (x_t . dy - y . dy). Then s_t = x_t . w.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        x, a, y, layout = cache
        wide = np.repeat(dy, layout.lengths, axis=0)
        ds = a * (np.einsum("nd,nd->n", x, wide) - np.repeat(np.einsum("bd,bd->b", y, dy), layout.lengths))
        grads.add(self.query, ds @ x)
        return a[:, None] * wide + ds[:, None] * self.query.value


class FlattenPool(Pool):
    """y_b = the rows of text b side by side, filled with zeros up to the window: (B, window D). One part a text."""

    def __init__(self, width: int, window: int) -> None:
        super().__init__(width * window, window)
        self.window = window

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        return y[layout.starts]

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        filled = np.arange(self.window) < layout.lengths[:, None]
        y = np.zeros((*filled.shape, x.shape[1]), x.dtype)
        y[filled] = x
        return y.reshape(len(y), -1), filled

    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        filled = cache
        dx: NDArray = dy.reshape(*filled.shape, -1)[filled]
        return dx


POOLS: dict[str, type[Pool]] = {
    "mean": MeanPool,
    "max": MaxPool,
    "first": FirstPool,
    "attention": AttentionPool,
    "flatten": FlattenPool,
}
