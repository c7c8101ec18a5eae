"""What all steps of a training share, beside the data and the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nlptx.runtime.workers import Workers
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.progress import Progress


@dataclass
class TrainingContext:
    """Given to every step of a training; only the seed changes the result.

    Args:
        seed: of all random numbers.
        workers: threads or processes that do the work.
        on_progress: called with the progress of each step.
        stop: asked before every optimiser step; True ends the training.
        checkpoint: where the state is kept, so that a stopped training can continue.
        on_note: told what is worth knowing.

    Attributes:
        interrupted: whether ``stop`` has answered True.
    """

    seed: int
    workers: Workers
    on_progress: Callable[[Progress], None]
    stop: Callable[[], bool]
    checkpoint: Checkpoint
    on_note: Callable[[str], None] = lambda note: None
    interrupted: bool = field(default=False, init=False)

    def stop_requested(self) -> bool:
        """Return whether to stop, and remember it."""
        self.interrupted = self.interrupted or self.stop()
        return self.interrupted

    def report(self, title: str, fraction: float, detail: str = "") -> None:
        """Report the progress of a step, see :class:`Progress`."""
        self.on_progress(Progress(title, fraction, detail))
