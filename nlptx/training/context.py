"""What a training is run with, beside its model and its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nlptx.training.checkpoint import Checkpoint
from nlptx.training.progress import Progress


@dataclass(frozen=True)
class TrainingContext:
    """Given to every phase of a training; of all this, only the seed changes the result.

    Args:
        seed: of all random numbers.
        jobs: how many share the work.
        on_progress: called after every step and every validation.
        stop: asked before every step; True ends the training.
        checkpoint: where the state is kept, so that a training that was stopped can go on.
        processes: whether those who help with a batch are forked processes, see :func:`nlptx.runtime.crew.crew`.
    """

    seed: int
    jobs: int
    on_progress: Callable[[Progress], None]
    stop: Callable[[], bool]
    checkpoint: Checkpoint
    processes: bool = False
