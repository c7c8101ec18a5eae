"""What a training is run with, beside its model and its data."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from nlptx.training.checkpoint import Checkpoint
from nlptx.training.progress import Progress


@dataclass(frozen=True)
class Control:
    """Given to every phase of a training; of all this, only the seed changes the result.

    Args:
        seed: of all random numbers.
        pool: threads for the shares of a batch.
        on_progress: called after every step and every validation.
        stop: asked before every step; True ends the training.
        checkpoint: where the state is kept, so that a training that was stopped can go on.
        spare: threads that may help with a batch too small for the pool; None where one job is all there is.
    """

    seed: int
    pool: Executor
    on_progress: Callable[[Progress], None]
    stop: Callable[[], bool]
    checkpoint: Checkpoint
    spare: Executor | None = None
