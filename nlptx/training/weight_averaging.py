"""A running average of the weights, which generalises better than the last weights (Polyak & Juditsky 1992)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nlptx.runtime.shared_memory import shared_copy

# After the first 100 steps, averaging at every tenth step is as good. Every step would cost 1 to 4 % of a training step
# in one process, and twice that in two, because one process does it.
_EVERY = 10
_FIRST_STEPS = 100


class WeightAverage:
    """Exponential moving average of some arrays.

    Args:
        weights: arrays that training changes in place.
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
        """Record a step. The decay is smaller at first, so that the average forgets the initial weights."""
        self.steps += 1
        if not self.averages or (self.steps > _FIRST_STEPS and self.steps % _EVERY):
            return
        decay = min(self.decay, self.steps / (self.steps + 9)) ** (self.steps - self.taken)
        self.taken = self.steps
        for average, weight in zip(self.averages, self.weights, strict=True):
            average += (1 - decay) * (weight - average)

    @contextmanager
    def swapped_in(self) -> Iterator[None]:
        """Put the averages in the place of the weights for the length of a block."""
        kept = [weight.copy() for weight in self.weights] if self.averages else []
        for weight, average in zip(self.weights, self.averages, strict=False):
            np.copyto(weight, average)
        try:
            yield
        finally:
            for weight, saved in zip(self.weights, kept, strict=False):
                np.copyto(weight, saved)
