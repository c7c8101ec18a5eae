"""The context that all parts of training share: seed, workers, callbacks and checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.training.checkpoint import Checkpoint
from nlptx.training.feature_cache import FeatureCache
from nlptx.training.progress import Progress


@dataclass
class TrainingContext:
    """Seed, workers, callbacks and checkpoint of a training run, passed to every part of it.

    Of all fields, only the seed affects the result, unless training is stopped before the end.

    Args:
        seed: seed for all random number generators.
        workers: pool of threads or processes that does the work.
        on_progress: callback for the progress of each part.
        stop: function called before every optimiser step, from time to time while region filters are trained, and
            before the subword model is fitted; training ends when it returns True.
        checkpoint: checkpoint that stores the state, so that a stopped training run can be resumed.
        on_note: callback for notes.
        feature_cache: cache of n-gram features that several training runs share.
        budget: memory limit; it does not change the result.

    Attributes:
        interrupted: whether ``stop`` has returned True.
    """

    seed: int
    workers: Workers
    on_progress: Callable[[Progress], None]
    stop: Callable[[], bool]
    checkpoint: Checkpoint
    on_note: Callable[[str], None] = lambda note: None
    feature_cache: FeatureCache = field(default_factory=FeatureCache)
    budget: MemoryBudget = field(default_factory=MemoryBudget)
    interrupted: bool = field(default=False, init=False)

    def stop_requested(self) -> bool:
        """Return whether to stop, and store the result in ``interrupted``."""
        self.interrupted = self.interrupted or self.stop()
        return self.interrupted

    def report(self, title: str, fraction: float, detail: str = "") -> None:
        """Report the progress of a part of training; see :class:`Progress`."""
        self.on_progress(Progress(title, fraction, detail))
