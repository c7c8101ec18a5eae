"""Progress reports of a training run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """Progress of one part of :func:`nlptx.training.fit.fit`, such as encoding or distillation.

    Args:
        title: name of the part, such as ``encoding texts``.
        fraction: completed fraction of the part, from 0 to 1.
        detail: description of the progress, such as ``120 of 300``.
    """

    title: str
    fraction: float
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class EpochProgress(Progress):
    """Progress of training, pre-training or distillation, reported after an optimiser step or a validation.

    Args:
        phase: ``pretrain``, ``distill`` or ``train``.
        epoch, epochs: current epoch, from 1, and number of epochs.
        step, steps: current optimiser step, from 1, and number of optimiser steps in all epochs.
        loss: mean training loss in the current epoch so far.
        tokens_per_second: speed of training so far, not including the time for validation.
        seconds_left: estimated time until the end of the last epoch.
        valid_loss, valid_accuracy: results of the most recent validation; None before the first one.
        epoch_done: whether this is the last report of an epoch.
        improved: whether the weights after this epoch are the best so far; True only in the last report of an epoch.
    """

    phase: str
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    tokens_per_second: float
    seconds_left: float
    valid_loss: float | None = None
    valid_accuracy: float | None = None
    epoch_done: bool = False
    improved: bool = False


@dataclass
class Clock:
    """Measures the time in seconds that optimiser steps take in this process, and counts the steps and their tokens."""

    seconds: float = 0.0
    steps: int = 0
    tokens: int = 0
    _since: float = field(default=0.0, repr=False)

    def resume(self) -> None:
        """Start or continue measuring time."""
        self._since = time.perf_counter()

    def pause(self, tokens: int) -> None:
        """Stop the timer at the end of a step; ``tokens`` is the number of tokens in the batch."""
        self.seconds += time.perf_counter() - self._since
        self.steps += 1
        self.tokens += tokens
