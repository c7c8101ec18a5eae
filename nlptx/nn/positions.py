"""Position vectors, which are added to the word vectors so that attention can take the word order into account.

Positions are counted from 0 in each window.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer, Parameter
from nlptx.nn.layout import Layout


def sinusoids(positions: int, width: int) -> NDArray[np.float64]:
    """Return sines and cosines, with lower frequencies in later columns, as position vectors (Vaswani et al. 2017).

        s_t,2i = sin(t / 10000^(2i/D))        s_t,2i+1 = cos(t / 10000^(2i/D))

    Args:
        positions: number of positions t, which are counted from 0.
        width: D, the width of the model.

    Returns:
        (positions, D) float64.
    """
    even = np.arange(0, width, 2)
    angles = np.arange(positions)[:, None] / 10_000 ** (even / width)  # (positions, D / 2), rounded up
    table = np.empty((positions, width))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : width // 2])
    return table


@lru_cache(maxsize=8)
def _table(positions: int, width: int) -> NDArray[np.float64]:
    return sinusoids(positions, width)


class SinusoidalPositions(Layer):
    """Add fixed position vectors: y_t = x_t + s_t, where :func:`sinusoids` computes s. x and y are (N, D)."""

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, None]:
        y = x.copy()
        # The table is only as long as the longest window of the batch, because a malicious file may set
        # `attention_window` to an enormous number.
        longest = int(layout.windows.max(initial=1))
        table = _table(1 << (longest - 1).bit_length(), x.shape[1])[:longest].astype(x.dtype)  # (T, D)
        for stack in layout.stacks(y):
            stack += table[: stack.shape[1]]
        return y, None

    # s is fixed, so dx = dy.
    def backward(self, dy: NDArray, cache: None, grads: Gradients | None = None) -> NDArray:
        return dy


class LearnedPositions(Layer):
    """Add learned position vectors: y_t = x_t + s_t, where s (window, D) is a parameter. x and y are (N, D).

    Args:
        window: maximum number of positions.
        width: D, the width of the model.
        rng: random generator for the initial vectors.
    """

    def __init__(self, window: int, width: int, rng: np.random.Generator) -> None:
        self.table = Parameter("s", rng.normal(0, 0.02, (window, width)))

    def direct_parameters(self) -> Sequence[Parameter]:
        return (self.table,)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Layout]:
        y = x.copy()
        for stack in layout.stacks(y):
            stack += self.table.value[: stack.shape[1]]
        return y, layout

    # y_t = x_t + s_t gives dx_t = dy_t. s_t was added in every window, so ds_t is the sum of dy_t over the windows.
    def backward(self, dy: NDArray, cache: Layout, grads: Gradients) -> NDArray:
        layout = cache
        for stack in layout.stacks(dy):
            grads[self.table][: stack.shape[1]] += stack.sum(axis=0)
        return dy
