"""A weighted sum of several predictions, with a separate weight for each column of each prediction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer, Parameter
from nlptx.nn.layout import Layout


class WeightedSum(Layer):
    """Add up M blocks of C columns, with a weight for each block and column: y_nc = sum_m w_mc x_nmc.

    x is (N, M C), with the blocks side by side; W is (M, C), and y is (N, C). Initially, y is the mean of the blocks.

    Args:
        blocks: M, the number of blocks.
        columns: C, the number of columns of each block.
    """

    def __init__(self, blocks: int, columns: int) -> None:
        self.weight = Parameter("W", np.full((blocks, columns), 1 / blocks), decay=True)

    def direct_parameters(self) -> Sequence[Parameter]:
        return (self.weight,)

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, NDArray]:
        return (self._blocks(x) * self.weight.value).sum(axis=1), x  # (N, C)

    # y_nc = sum_m w_mc x_nmc, so    dx_nmc = dy_nc w_mc    and    dw_mc = sum_n dy_nc x_nmc.
    def backward(self, dy: NDArray, cache: NDArray, grads: Gradients) -> NDArray:
        x = cache
        grads.add(self.weight, (dy[:, None] * self._blocks(x)).sum(axis=0))  # (M, C)
        return (dy[:, None] * self.weight.value).reshape(len(dy), -1)  # (N, M C)

    def _blocks(self, x: NDArray) -> NDArray:
        return x.reshape(len(x), *self.weight.value.shape)  # (N, M, C)
