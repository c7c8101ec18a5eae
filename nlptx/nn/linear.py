"""The linear layer: a matrix product and a bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer, Parameter, glorot
from nlptx.nn.layout import Layout


class Linear(Layer):
    """Multiply each row by a matrix and add a bias: y = x W + b.

    x is (N, I), W (I, O), b (O,), y (N, O).

    Args:
        inputs: I, the number of columns of x.
        outputs: O, the number of columns of y.
        rng: random generator for the initial weights.
        bias: whether the layer has a bias b.
        fan_out: fan-out that determines the scale of the initial weights; None means O. If W consists of several
            matrices side by side, the fan-out is the number of columns of one of them.
    """

    def __init__(
        self, inputs: int, outputs: int, rng: np.random.Generator, *, bias: bool = True, fan_out: int | None = None
    ) -> None:
        self.weight = Parameter("W", glorot(rng, inputs, outputs, fan_out), decay=True)
        self.bias = Parameter("b", np.zeros(outputs)) if bias else None

    def direct_parameters(self) -> Sequence[Parameter]:
        return (self.weight,) if self.bias is None else (self.weight, self.bias)

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, NDArray]:
        y = x @ self.weight.value if layout is None else layout.product(x, self.weight.value)  # (N, O)
        if self.bias is not None:
            y += self.bias.value
        return y, x

    # y_nj = sum_i x_ni W_ij + b_j, so by the chain rule
    #   dx_ni = sum_j dy_nj W_ij        dW_ij = sum_n x_ni dy_nj        db_j = sum_n dy_nj
    # or    dX = dY W^T                 dW = X^T dY                     db = 1^T dY.
    def backward(self, dy: NDArray, cache: NDArray, grads: Gradients) -> NDArray:
        x = cache
        if self.bias is not None:
            grads.add(self.bias, np.ones(len(dy), dy.dtype) @ dy)  # (O,)
        grads.add(self.weight, x.T @ dy)  # (I, O)
        return dy @ self.weight.value.T  # (N, I)
