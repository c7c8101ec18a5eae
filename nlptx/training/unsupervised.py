"""Base class of the phases before training on the labels: pre-training and distillation."""

from __future__ import annotations

from typing import Any, ClassVar

from nlptx.training.trainer import Trainer


class UnsupervisedTrainer(Trainer):
    """Trainer of a phase that uses no labels; the arguments are those of :class:`Trainer`."""

    RECORDS: ClassVar[tuple[str, ...]] = ("history",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.history: list[dict[str, float]] = []

    def after_epoch(self, loss: float, accuracy: float) -> None:
        self.history.append({"epoch": self.sums.epoch, "loss": round(loss, 5), "accuracy": round(accuracy, 5)})
