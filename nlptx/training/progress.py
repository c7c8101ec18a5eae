"""What training reports while it runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The state after a step, or after a validation.

    Args:
        phase: ``pretrain``, ``imitate`` or ``train``.
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
