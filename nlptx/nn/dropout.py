"""Dropout (Srivastava et al. 2014), in its inverted form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer
from nlptx.nn.layout import Layout

_LEVELS = 256


class Dropout(Layer):
    """y = x m / (1 - p), each m 0 with probability p and else 1; y = x outside training.

    One random byte decides, so p is a multiple of 1/256.

    Args:
        p: share of entries dropped.
    """

    def __init__(self, p: float) -> None:
        self.dropped = round(p * _LEVELS)

    def forward(self, x: NDArray, layout: Layout | None, rng: np.random.Generator | None) -> tuple[NDArray, Any]:
        if rng is None or self.dropped == 0:
            return x, None
        # Eight bytes at a time take half as long as rng.bytes.
        eights = rng.integers(0, 1 << 64, -(-x.size // 8), np.uint64)
        kept = eights.view(np.uint8)[: x.size].reshape(x.shape) >= self.dropped
        mask = kept * x.dtype.type(_LEVELS / (_LEVELS - self.dropped))
        return x * mask, mask

    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        mask = cache
        return dy if mask is None else dy * mask
