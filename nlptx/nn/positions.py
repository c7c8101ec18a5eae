"""Position signals, added to the word vectors. Positions count from 0 in each window."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer, Parameter
from nlptx.nn.layout import Layout


def sinusoids(positions: int, width: int) -> NDArray[np.float64]:
    """Return (positions, width): sin(t / 10000^(2i/D)) in column 2i, the cosine in column 2i+1."""
    even = np.arange(0, width, 2)
    angles = np.arange(positions)[:, None] / 10_000 ** (even / width)
    table = np.empty((positions, width))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : width // 2])
    return table


@lru_cache(maxsize=8)
def _table(positions: int, width: int) -> NDArray[np.float64]:
    return sinusoids(positions, width)


class SinusoidalPositions(Layer):
    """y = x + s with the fixed sinusoids s of Vaswani et al. (2017)."""

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, None]:
        y = x.copy()
        # As long as the longest text needs, and not as a window that a model's file may set to anything.
        longest = int(layout.windows.max(initial=1))
        table = _table(1 << (longest - 1).bit_length(), x.shape[1])[:longest].astype(x.dtype)
        for run in layout.views(y):
            run += table[: run.shape[1]]
        return y, None

    def backward(self, dy: NDArray, cache: None, grads: Gradients | None = None) -> NDArray:
        return dy


class LearnedPositions(Layer):
    """y = x + s with a learned vector s for each place in the window."""

    def __init__(self, window: int, width: int, rng: np.random.Generator) -> None:
        self.table = Parameter("s", rng.normal(0, 0.02, (window, width)))

    def own_parameters(self) -> Sequence[Parameter]:
        return (self.table,)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Layout]:
        y = x.copy()
        for run in layout.views(y):
            run += self.table.value[: run.shape[1]]
        return y, layout

    # s_t was added to row t of every window, so its gradient is the sum over windows.
    def backward(self, dy: NDArray, cache: Layout, grads: Gradients) -> NDArray:
        layout = cache
        for run in layout.views(dy):
            grads[self.table][: run.shape[1]] += run.sum(axis=0)
        return dy
