"""A running average of the weights, which generalises better than the last ones (Polyak & Juditsky 1992)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nlptx.runtime.shared_memory import shared_copy

# Once a run is under way, taking in the weights every so many steps is as good and costs next to nothing.
_EVERY = 10
_UNDER_WAY = 100
# Values averaged at a time: a temporary that stays in the caches.
_BLOCK = 1 << 16


class WeightAverage:
    """Exponential moving average of some arrays.

    Args:
        weights: the arrays, as training changes them in place.
        decay: per step; 0 averages nothing, so the weights themselves are used.
    """

    STATE: ClassVar = ("steps", "taken", "averages")  # what a checkpoint must hold

    def __init__(self, weights: Sequence[NDArray], decay: float) -> None:
        self.weights = weights
        self.decay = decay
        self.averages = [shared_copy(weight) for weight in weights] if decay else []
        self.steps = 0
        self.taken = 0

    def step(self) -> None:
        """Take note of a step. Early on the average forgets faster, so that it leaves the start behind."""
        self.steps += 1
        if not self.averages or (self.steps > _UNDER_WAY and self.steps % _EVERY):
            return
        decay = min(self.decay, self.steps / (self.steps + 9)) ** (self.steps - self.taken)
        self.taken = self.steps
        for average, weight in zip(self.averages, self.weights, strict=True):
            rows = max(1, _BLOCK * len(weight) // max(1, weight.size))
            for start in range(0, len(weight), rows):
                part = weight[start : start + rows] - average[start : start + rows]
                part *= 1 - decay
                average[start : start + rows] += part

    @contextmanager
    def swapped_in(self) -> Iterator[None]:
        """Put the averages in the place of the weights for the length of a block."""
        kept = [weight.copy() for weight in self.weights] if self.averages else []
        for weight, average in zip(self.weights, self.averages, strict=False):
            np.copyto(weight, average)
        try:
            yield
        finally:
            for weight, own in zip(self.weights, kept, strict=False):
                np.copyto(weight, own)
