"""What training reports while it runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """How far one step of :func:`nlptx.training.fit.fit` is.

    Args:
        title: name of the step, such as ``encoding texts``.
        fraction: completed part of it, from 0 to 1.
        detail: for example ``120 of 300``.
    """

    title: str
    fraction: float
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class EpochProgress(Progress):
    """State of a step that goes through the texts in epochs, after an optimiser step or a validation.

    Args:
        phase: ``pretrain``, ``distill`` or ``train``.
        epoch, epochs: from 1.
        step, steps: optimiser steps, from 1, over all epochs.
        loss: mean training loss of the epoch so far.
        tokens_per_second: speed of training so far, without validation.
        seconds_left: estimate to the end of the last epoch.
        valid_loss, valid_accuracy: of the last validation; None before the first.
        epoch_done: whether this closes an epoch.
        improved: whether the validation loss of that epoch is the lowest so far.
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
    """Seconds, steps and tokens of the optimiser steps that this process has taken."""

    seconds: float = 0.0
    steps: int = 0
    tokens: int = 0
    _since: float = field(default=0.0, repr=False)

    def resume(self) -> None:
        """Start, or continue."""
        self._since = time.perf_counter()

    def pause(self, tokens: int) -> None:
        """Stop after a step of so many tokens."""
        self.seconds += time.perf_counter() - self._since
        self.steps += 1
        self.tokens += tokens
