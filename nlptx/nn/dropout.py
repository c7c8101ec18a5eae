"""Dropout: sets random entries to zero during training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer
from nlptx.nn.layout import Layout

_LEVELS = 256


class Dropout(Layer):
    """During training, set random entries to zero and scale up the others, so that their expected values stay the same.

        y = x m / (1 - p)    where each m is 0 with probability p and 1 otherwise;    y = x outside training

    One random byte is drawn per entry, so p is rounded to a multiple of 1/256, and is at most 255/256. A p below 1/512
    becomes 0.

    Args:
        p: fraction of entries that are dropped.

    Source: "Dropout: a simple way to prevent neural networks from overfitting" (Srivastava et al. 2014).
    """

    def __init__(self, p: float) -> None:
        self.dropped = min(round(p * _LEVELS), _LEVELS - 1)

    def forward(self, x: NDArray, layout: Layout | None, rng: np.random.Generator | None) -> tuple[NDArray, Any]:
        if rng is None or self.dropped == 0:
            return x, None
        kept = rng.integers(0, _LEVELS, x.shape, np.uint8) >= self.dropped
        mask = kept * x.dtype.type(_LEVELS / (_LEVELS - self.dropped))
        return x * mask, mask

    # y = x mask elementwise, so dx = dy mask.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        mask = cache
        return dy if mask is None else dy * mask
