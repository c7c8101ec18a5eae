"""What training reports while it runs."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Progress:
    """The state after a step, or after a validation.

    Args:
        phase: ``pretrain``, ``distill`` or ``train``.
        epoch, epochs: from 1.
        step, steps: from 1, over the whole phase.
        loss: running mean of the training loss.
        tokens_per_second: of training so far, validation left out.
        seconds_left: estimate to the end of the last epoch.
        valid_accuracy, valid_loss: of the last validation; None before the first.
        epoch_done: whether this closes an epoch.
        improved: whether that epoch is the best so far.
    """

    phase: str
    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    tokens_per_second: float
    seconds_left: float
    valid_accuracy: float | None = None
    valid_loss: float | None = None
    epoch_done: bool = False
    improved: bool = False


@dataclass
class Clock:
    """Seconds, steps and tokens of the steps this process has taken."""

    seconds: float = 0.0
    steps: int = 0
    tokens: int = 0
    _since: float = field(default=0.0, repr=False)

    def resume(self) -> None:
        """Start, or go on."""
        self._since = time.perf_counter()

    def pause(self, tokens: int) -> None:
        """Stop after a step of so many tokens."""
        self.seconds += time.perf_counter() - self._since
        self.steps += 1
        self.tokens += tokens
