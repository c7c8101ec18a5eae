"""Optimiser update rules, and the learning rate schedule."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nlptx.nn import Layer
from nlptx.runtime.shared_memory import shared_zeros
from nlptx.settings import TrainSettings

BETA1, BETA2 = 0.9, 0.999
EPSILON = 1e-8


def learning_rate(settings: TrainSettings, step: int, steps: int) -> float:
    """Return the learning rate of step ``step``, counted from 0.

    The rate rises linearly during warm-up, and then decays by the schedule to 0 at step ``steps``. Warm-up takes at
    most half of the steps, so that the rate also decays in short runs. With a constant schedule, which has no decay,
    warm-up may take all steps.
    """
    warmup = min(settings.warmup, steps if settings.schedule == "constant" else steps // 2)
    if step < warmup:
        return settings.lr * (step + 1) / warmup
    done = (step - warmup) / max(steps - warmup, 1)
    if settings.schedule == "constant":
        return settings.lr
    if settings.schedule == "cosine":
        return settings.lr * (1 + math.cos(math.pi * done)) / 2
    return settings.lr * (1 - done)


class DenseOptimizer:
    """SGD, Adam or AdamW on the flat parameter vector.

    SGD:   w -= lr g
    Adam:  m = b1 m + (1-b1) g,  v = b2 v + (1-b2) g^2,  w -= lr m^ / (sqrt(v^) + eps)   (Kingma & Ba 2015),
           with m^ = m / (1 - b1^t) and v^ = v / (1 - b2^t)
    AdamW: the same, and w -= lr decay w for weight matrices   (Loshchilov & Hutter 2019)

    Args:
        flat: (P,) parameters, updated in place.
        layer: layer that the parameters belong to.
        settings: training settings, including the update rule.
    """

    STATE: ClassVar = ("steps", "m", "v")  # attributes to save in a checkpoint

    def __init__(self, flat: NDArray, layer: Layer, settings: TrainSettings) -> None:
        self.flat = flat
        self.rule = settings.optimizer
        self.steps = 0
        # m and v are in shared memory. In private memory, the first write to each page after a fork would copy the
        # page, because the forked workers keep the old page.
        self.m, self.v = (shared_zeros(flat.shape, flat.dtype) for _ in range(2))
        self.decayed = [parameter.span for _, parameter in layer.parameters() if parameter.decay]
        self.decay = settings.weight_decay if settings.optimizer == "adamw" else 0.0

    def step(self, gradient: NDArray, lr: float) -> None:
        """Update the parameters with their gradient (P,)."""
        if self.rule == "sgd":
            self.flat -= lr * gradient
            return
        self.steps += 1
        part = gradient - self.m
        part *= 1 - BETA1
        self.m += part
        np.multiply(gradient, gradient, out=part)
        part -= self.v
        part *= 1 - BETA2
        self.v += part
        if self.decay:
            for span in self.decayed:
                self.flat[span] *= 1 - lr * self.decay
        np.divide(self.v, 1 - BETA2**self.steps, out=part)
        np.sqrt(part, out=part)
        part += EPSILON
        np.divide(self.m, part, out=part)
        part *= lr / (1 - BETA1**self.steps)
        self.flat -= part


class RowOptimizer:
    """SGD or Adam for a large table in which only a few rows have a gradient in each batch.

    Adam is used with b1 = 0, which is RMSProp with bias correction, and without weight decay. The weights of a row
    without a gradient would not change, so the row is skipped. The second moment of a skipped row is updated when the
    row next has a gradient: it is then multiplied by b2 once for each step since its last gradient, including the
    current one.

    Args:
        table: (V, R) word vectors, updated in place.
        settings: training settings, including the update rule.
    """

    STATE: ClassVar = ("steps", "v", "last")  # attributes to save in a checkpoint

    def __init__(self, table: NDArray, settings: TrainSettings) -> None:
        self.table = table
        self.rule = settings.optimizer
        self.steps = 0
        self.v = shared_zeros(table.shape, table.dtype)
        self.last = np.zeros(len(table), np.int64)

    def step(self, rows: NDArray[np.integer], gradient: NDArray, lr: float) -> None:
        """Update the rows of the table at the distinct indices ``rows`` (U,), given their gradient (U, R)."""
        if self.rule == "sgd":
            self.table[rows] -= lr * gradient
            return
        self.steps += 1
        dtype = self.table.dtype
        decay = (BETA2 ** (self.steps - self.last[rows])).astype(dtype)
        v = self.v[rows]
        v *= decay[:, None]
        part = gradient * gradient
        part *= 1 - BETA2
        v += part
        self.v[rows] = v
        self.last[rows] = self.steps
        v /= 1 - BETA2**self.steps
        np.sqrt(v, out=v)
        v += EPSILON
        np.divide(gradient, v, out=part)
        part *= lr
        self.table[rows] -= part
