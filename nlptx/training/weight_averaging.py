"""An exponential moving average of the weights, which usually predicts new texts better than the final weights.

In step t, counted from 1, the average becomes

    average <- d average + (1 - d) weights,    where d = min(decay, t / (t + 9)),

so that the initial weights soon lose their influence. To save time, ten steps are combined into one update (see
:meth:`WeightAverage.step`). Polyak & Juditsky (1992), "Acceleration of stochastic approximation by averaging", average
the weights of all steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nlptx.runtime.shared_memory import shared_copy

# The average is updated only after every tenth step. Updating the average after every step would not give better
# models, but would increase the time of a step by 1 to 4% with one process, and by 3 to 8% with two processes,
# because only one process computes the average.
_UPDATE_INTERVAL = 10
# The average is updated in pieces of this many entries, whose temporary arrays fit in the processor cache.
_ENTRIES_AT_A_TIME = 1 << 16


class WeightAverage:
    """Exponential moving average of arrays.

    Args:
        weights: arrays that training changes in place.
        decay: factor by which the old average is multiplied in each step. If it is 0, no averages are computed, and
            the current weights are used.
    """

    STATE: ClassVar = ("steps", "taken", "averages")  # attributes to save in a checkpoint

    def __init__(self, weights: Sequence[NDArray], decay: float) -> None:
        self.weights = weights
        self.decay = decay
        self.averages = [shared_copy(weight) for weight in weights] if decay else []
        self.steps = 0
        self.taken = 0  # value of ``steps`` at the last update

    def step(self) -> None:
        """Record a step, and update the average after every tenth step."""
        self.steps += 1
        if self.steps % _UPDATE_INTERVAL == 0:
            for average, weight in zip(self.averages, self.weights, strict=False):
                self._update(average.reshape(-1), weight.reshape(-1))
            self.taken = self.steps

    def _update(self, average: NDArray, weight: NDArray) -> None:
        """Update the average (N,) of the weights (N,) in place."""
        fraction = self._fraction_of_current()
        for start in range(0, len(average), _ENTRIES_AT_A_TIME):
            part = slice(start, start + _ENTRIES_AT_A_TIME)
            average[part] += fraction * (weight[part] - average[part])

    def _fraction_of_current(self) -> float:
        """Return the fraction of the new average that comes from the current weights.

        All steps since the last update are treated as if they had ended with the current weights. In the first steps, a
        value smaller than ``decay`` is used, so that the initial weights soon lose their influence on the average.
        """
        return 1 - min(self.decay, self.steps / (self.steps + 9)) ** (self.steps - self.taken)

    @contextmanager
    def swapped_in(self) -> Iterator[None]:
        """Context manager: replace the weights by their averages within the block."""
        kept = [weight.copy() for weight in self.weights] if self.averages else []
        for weight, average in zip(self.weights, self.averages, strict=False):
            weight[...] = average + self._fraction_of_current() * (weight - average)
        try:
            yield
        finally:
            for weight, saved in zip(self.weights, kept, strict=False):
                np.copyto(weight, saved)
