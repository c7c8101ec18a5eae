"""Layer normalisation: each row is shifted and scaled to mean 0 and variance 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer, Parameter
from nlptx.nn.layout import Layout

EPSILON = 1e-5


class LayerNorm(Layer):
    """Normalise each row to mean 0 and variance 1, then apply a learned gain and bias.

        y = g z + b    with    z = (x - mu) / sigma,    sigma = sqrt(variance + epsilon)

    mu and the variance are computed per row. x is (N, D), g and b (D,), y (N, D).

    Args:
        width: D, the width of the model.
        gain: whether the layer has the learned parameters g and b; without them, y = z.

    Source: Ba, Kiros & Hinton (2016), "Layer normalization".
    """

    def __init__(self, width: int, gain: bool = True) -> None:
        self.gain = Parameter("g", np.ones(width)) if gain else None
        self.bias = Parameter("b", np.zeros(width)) if gain else None

    def direct_parameters(self) -> Sequence[Parameter]:
        return () if self.gain is None or self.bias is None else (self.gain, self.bias)

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, Any]:
        z, inverse = _standardise(x)
        if self.gain is None or self.bias is None:
            return z, (z, inverse)
        y = z * self.gain.value
        y += self.bias.value
        return y, (z, inverse)

    def apply(self, x: NDArray, layout: Layout | None = None) -> NDArray:
        # Without a backward pass, z is not needed again, so y overwrites z.
        y, _ = _standardise(x)
        if self.gain is not None and self.bias is not None:
            y *= self.gain.value
            y += self.bias.value
        return y

    # Write s for 1/sigma. Since ∂mu/∂x_j = 1/D and ∂sigma/∂x_j = z_j / D, for one row
    #   ∂z_i/∂x_j = s (delta_ij - 1/D - z_i z_j / D),
    # where delta_ij is 1 if i = j and otherwise 0. This Jacobian is symmetric, and its product with dz = g dy is
    #   dx = s (dz - mean(dz) - z mean(dz z)).
    # The code computes the means over a row as products with the vector g/D, which applies the gain as well.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        z, inverse = cache
        gain = np.ones(z.shape[1], z.dtype) if self.gain is None else self.gain.value
        dy_z = dy * z
        if self.gain is not None and self.bias is not None:
            ones = np.ones(len(dy), dy.dtype)
            grads.add(self.gain, ones @ dy_z)  # (D,), the sum over the rows
            grads.add(self.bias, ones @ dy)  # (D,)
        mean = gain / z.dtype.type(len(gain))  # (D,)
        dx = dy * gain
        dx -= (dy @ mean)[:, None]
        dx -= z * (dy_z @ mean)[:, None]
        dx *= inverse[:, None]
        return dx


def _standardise(x: NDArray) -> tuple[NDArray, NDArray]:
    """Return z = (x - mu) / sigma, (N, D), and 1 / sigma, (N,)."""
    width = x.shape[1]
    z = x - (np.einsum("nd->n", x) / width)[:, None]
    inverse = 1 / np.sqrt(np.einsum("nd,nd->n", z, z) / width + x.dtype.type(EPSILON))  # (N,)
    z *= inverse[:, None]
    return z, inverse
