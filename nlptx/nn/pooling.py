"""Pooling: turns the token vectors of a batch, (N, D), into one vector per text, (B, D).

A text can also be pooled in parts, such as its windows; the results for the parts are then merged. For mean and
attention pooling, the result for the text is the mean of the results for its parts, weighted by exp(u), where u is the
log-weight of a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer, Parameter
from nlptx.nn.layout import Layout


class Pool(Layer):
    """Base class of the pooling layers. x is (N, D), y is (B, width).

    Args:
        width: length of the pooled vector of a text: the width D of the model, except in :class:`FlattenPool`.
        window: maximum number of tokens in a window. Only :class:`FlattenPool` uses it; there, every text must fit into
            one window.

    Attributes:
        width: length of the pooled vector of a text.
    """

    def __init__(self, width: int, window: int) -> None:
        self.width = width

    def log_weights(self, x: NDArray, layout: Layout) -> NDArray:
        """Return the log-weight of each part, relative to the other parts of its text.

        Args:
            x: (N, D) token vectors of B parts of texts.
            layout: layout of ``x``, in which each part counts as a text.

        Returns:
            (B,) float.
        """
        return np.zeros(len(layout.lengths))

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        """Return the vectors of texts, (B, width), given the vectors of their parts.

        Args:
            y: (parts, width) vectors of the parts.
            log_weights: (parts,) log-weights of the parts, from :meth:`log_weights`.
            layout: layout of ``y``, in which each of the B texts has one row per part.
        """
        raise NotImplementedError


def _weighted_mean(y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
    """Return the mean of the rows of each text, (B, D), weighted by the softmax of ``log_weights``."""
    a = _softmax(log_weights, layout).astype(y.dtype)
    mean: NDArray = np.add.reduceat(a[:, None] * y, layout.starts, axis=0)  # (B, D)
    return mean


def _softmax(scores: NDArray, layout: Layout) -> NDArray:
    """Return the softmax of the scores (N,) over the tokens of each text."""
    a = np.exp(scores - np.repeat(np.maximum.reduceat(scores, layout.starts), layout.lengths))
    a /= np.repeat(np.add.reduceat(a, layout.starts), layout.lengths)
    return a


class MeanPool(Pool):
    """Take the mean over the tokens of a text: y_b = (sum of the rows of the text) / (number of rows)."""

    def log_weights(self, x: NDArray, layout: Layout) -> NDArray:
        return np.log(layout.lengths)

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        return _weighted_mean(y, log_weights, layout)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        lengths = layout.lengths.astype(x.dtype)[:, None]  # (B, 1)
        # The rows of each window are summed by a product with a vector of ones, because the product is faster than
        # np.add.reduceat.
        sums = np.concatenate([np.ones(stack.shape[1], x.dtype) @ stack for stack in layout.stacks(x)])  # (W, D)
        if len(sums) > len(lengths):
            sums = np.add.reduceat(sums, np.cumsum(layout.windows_per_text) - layout.windows_per_text, axis=0)  # (B, D)
        return sums / lengths, (lengths, layout)

    # Each of the L rows of a text has a weight of 1/L in the mean, so its gradient is dy / L.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        lengths, layout = cache
        return np.repeat(dy / lengths, layout.lengths, axis=0)  # (N, D)


class MaxPool(Pool):
    """Take the largest value of each column over the tokens of a text: y_bd = max_t x_td."""

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        largest: NDArray = np.maximum.reduceat(y, layout.starts, axis=0)  # (B, D)
        return largest

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        rows = np.empty((len(layout.lengths), x.shape[1]), np.int64)  # (B, D), the row index of each maximum
        for text, (start, length) in enumerate(zip(layout.starts, layout.lengths, strict=True)):
            rows[text] = x[start : start + length].argmax(axis=0) + start
        return np.take_along_axis(x, rows, axis=0), (rows, x.shape)

    # Only the largest entry of each column of a text influences y (the first one, if several are equally large).
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        rows, shape = cache
        dx = np.zeros(shape, dy.dtype)  # (N, D)
        np.put_along_axis(dx, rows, dy, axis=0)
        return dx


class FirstPool(Pool):
    """Take the vector of the first token of a text: y_b = x_0."""

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        return y[layout.starts]  # (B, D)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        return x[layout.starts], (layout, x.shape)

    # Only the first token influences y, so dx is 0 for all other tokens.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        layout, shape = cache
        dx = np.zeros(shape, dy.dtype)  # (N, D)
        dx[layout.starts] = dy
        return dx


class AttentionPool(Pool):
    """Take a weighted mean: y_b = sum_t a_t x_t, where a is the softmax of the scores x_t . w over the text.

    w (D,) is a learned query, the same for all texts.
    """

    def __init__(self, width: int, window: int) -> None:
        super().__init__(width, window)
        self.query = Parameter("w", np.zeros(width))

    def direct_parameters(self) -> Sequence[Parameter]:
        return (self.query,)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        a = _softmax(self._scores(x, layout), layout)  # (N,)
        y = np.add.reduceat(a[:, None] * x, layout.starts, axis=0)  # (B, D)
        return y, (x, a, y, layout)

    def _scores(self, x: NDArray, layout: Layout) -> NDArray:
        """Return x_t . w for each token, (N,)."""
        return layout.product(x, self.query.value[:, None])[:, 0]  # (N,)

    # The weight of a part is the denominator of its softmax. Subtracting the largest score prevents overflow.
    def log_weights(self, x: NDArray, layout: Layout) -> NDArray:
        scores = self._scores(x, layout)
        largest = np.maximum.reduceat(scores, layout.starts)  # (B,)
        sums = np.add.reduceat(np.exp(scores - np.repeat(largest, layout.lengths)), layout.starts)  # (B,)
        return largest + np.log(sums)

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        return _weighted_mean(y, log_weights, layout)

    # y = sum_t a_t x_t gives da_t = x_t . dy, and the softmax gives, as in attention,
    #   ds_t = a_t (da_t - sum_u a_u da_u) = a_t (x_t . dy - y . dy).
    # s_t = x_t . w gives dw = sum_t ds_t x_t. y and s_t both depend on x_t, so dx_t = a_t dy + ds_t w.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        x, a, y, layout = cache
        dy_token = np.repeat(dy, layout.lengths, axis=0)  # (N, D), for each token the dy of its text
        mean = np.repeat(np.einsum("bd,bd->b", y, dy), layout.lengths)  # (N,)
        ds = a * (np.einsum("nd,nd->n", x, dy_token) - mean)  # (N,)
        grads.add(self.query, ds @ x)  # (D,)
        return a[:, None] * dy_token + ds[:, None] * self.query.value


class FlattenPool(Pool):
    """Concatenate the rows of a text and pad with zeros: y_b = [x_0 x_1 ... 0], shape (B, window * D).

    A text must fit in one window, so it is never split into parts.
    """

    def __init__(self, width: int, window: int) -> None:
        super().__init__(width * window, window)
        self.window = window

    def merge(self, y: NDArray, log_weights: NDArray, layout: Layout) -> NDArray:
        return y[layout.starts]

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        filled = np.arange(self.window) < layout.lengths[:, None]  # (B, window)
        y = np.zeros((*filled.shape, x.shape[1]), x.dtype)  # (B, window, D)
        y[filled] = x
        return y.reshape(len(y), -1), filled  # (B, window D)

    # Each row was copied to one slice of y, so dx is the corresponding slice of dy.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        filled = cache
        dx: NDArray = dy.reshape(*filled.shape, -1)[filled]  # (N, D)
        return dx


POOLS: dict[str, type[Pool]] = {
    "mean": MeanPool,
    "max": MaxPool,
    "first": FirstPool,
    "attention": AttentionPool,
    "flatten": FlattenPool,
}
