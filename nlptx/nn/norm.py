"""Layer normalisation (Ba, Kiros & Hinton 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer, Parameter
from nlptx.nn.layout import Layout

EPSILON = 1e-5


class LayerNorm(Layer):
    """y = g (x - mu) / sigma + b, with mu and sigma^2 (plus epsilon) the mean and variance of each row.

    Args:
        width: D.
        gain: whether g and b are learned; without, y = (x - mu) / sigma.
    """

    def __init__(self, width: int, gain: bool = True) -> None:
        self.gain = Parameter("g", np.ones(width)) if gain else None
        self.bias = Parameter("b", np.zeros(width)) if gain else None

    def own_parameters(self) -> Sequence[Parameter]:
        return () if self.gain is None or self.bias is None else (self.gain, self.bias)

    def forward(self, x: NDArray, layout: Layout | None = None, rng: Any = None) -> tuple[NDArray, Any]:
        z, inverse = _standardise(x)
        return self._scaled(z), (z, inverse)

    # Nobody asks for z again, so y takes its memory.
    def apply(self, x: NDArray, layout: Layout | None = None) -> NDArray:
        z, _ = _standardise(x)
        return self._scaled(z, out=z)

    def _scaled(self, z: NDArray, out: NDArray | None = None) -> NDArray:
        """Return g z + b; in ``out``, if given."""
        if self.gain is None or self.bias is None:
            return z
        y = np.multiply(z, self.gain.value, out=out)
        y += self.bias.value
        return y

    # With z = (x - mu) / sigma, the Jacobian of one row is
    #   dz_i/dx_j = (delta_ij - 1/D - z_i z_j / D) / sigma,
    # as mu gives the 1/D and sigma the z_i z_j / D. It is symmetric, so for dz = g dy
    #   dx = (dz - mean(dz) - z mean(dz z)) / sigma.
    # A sum over rows or columns is a product with a vector, which BLAS does faster than NumPy sums.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        z, inverse = cache
        gain = np.ones(z.shape[1], z.dtype) if self.gain is None else self.gain.value
        dy_z = dy * z
        if self.gain is not None and self.bias is not None:
            ones = np.ones(len(dy), dy.dtype)
            grads.add(self.gain, ones @ dy_z)
            grads.add(self.bias, ones @ dy)
        share = gain / z.dtype.type(-len(gain))
        dx = dy * gain
        dx += (dy @ share)[:, None]
        dx += np.multiply(z, (dy_z @ share)[:, None], out=dy_z)
        dx *= inverse[:, None]
        return dx


def _standardise(x: NDArray) -> tuple[NDArray, NDArray]:
    """Return z = (x - mu) / sigma (N, D), and 1 / sigma (N,)."""
    width = x.shape[1]
    z = x - (np.einsum("nd->n", x) / width)[:, None]
    inverse = 1 / np.sqrt(np.einsum("nd,nd->n", z, z) / width + x.dtype.type(EPSILON))
    z *= inverse[:, None]
    return z, inverse
