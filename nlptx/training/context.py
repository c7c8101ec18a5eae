"""What a training is run with, beside its model and its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nlptx.runtime.workers import Workers
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.progress import Progress


@dataclass(frozen=True)
class TrainingContext:
    """Given to every phase of a training; of all this, only the seed changes the result.

    Args:
        seed: of all random numbers.
        workers: share the work.
        on_progress: called after every step and every validation.
        stop: asked before every step; True ends the training.
        checkpoint: where the state is kept, so that a training that was stopped can go on.
    """

    seed: int
    workers: Workers
    on_progress: Callable[[Progress], None]
    stop: Callable[[], bool]
    checkpoint: Checkpoint
