"""Training on the labels, with validation on held-out texts after each epoch; the best weights are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.nn import Gradients
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.training.batching import Microbatch, augment, cut_microbatches
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Examples
from nlptx.training.loss import VALID_BATCH, loss_and_gradients, validate
from nlptx.training.progress import EpochProgress
from nlptx.training.sample_weights import scaled_to_mean_one
from nlptx.training.state import Stateful
from nlptx.training.trainer import Trainer
from nlptx.training.weight_averaging import WeightAverage

# Approximate number of points per epoch in the loss curve.
_CURVE_POINTS = 20


@dataclass
class BestWeights:
    """The best weights so far: those with the lowest validation loss or, without validation examples, the latest ones.

    Args:
        loss: validation loss of these weights (without validation examples, the loss of a few training examples);
            infinite before the end of the first epoch.
        epoch: epoch from which these weights come, from 1; 0 before the end of the first epoch.
        weights: copies of the weight arrays; empty before the end of the first epoch.
    """

    STATE: ClassVar = ("loss", "epoch", "weights")

    loss: float = float("inf")
    epoch: int = 0
    weights: list[NDArray] = field(default_factory=list)


class SupervisedTrainer(Trainer):
    """Trainer of the complete model on labelled examples.

    Args:
        model: model to train; modified in place.
        train, valid: training and validation examples. Without validation examples, the last epoch counts as the best.
        context: seed, workers and callbacks.
        pretraining, distillation: records of these earlier phases, one per epoch; stored in the history.
    """

    name = "train"
    title = "training"
    order_stream = Stream.ORDER
    dropout_stream = Stream.DROPOUT
    RECORDS = ("validated", "curve", "recent", "pretraining", "distillation")

    def __init__(
        self,
        model: Model,
        train: Examples,
        valid: Examples,
        context: TrainingContext,
        pretraining: list[dict[str, float]],
        distillation: list[dict[str, float]],
    ) -> None:
        super().__init__(model, model.flat, model.network, train, model.settings.epochs, context)
        self.valid = valid
        self.sample_weights = None if train.weights is None else scaled_to_mean_one(train.weights)
        self.average = WeightAverage(self.weights, self.settings.weight_averaging)
        self.best = BestWeights()
        self.pretraining = pretraining
        self.distillation = distillation
        self.validated: list[dict[str, Any]] = []
        self.curve: list[list[float]] = []
        self.recent: list[list[float]] = []  # summed loss and number of texts of each step since the last curve point

    def run(self) -> None:
        """Train, then copy the best weights into the model."""
        super().run()
        for weight, best in zip(self.weights, self.best.weights, strict=False):
            np.copyto(weight, best)

    def history(self) -> dict[str, Any]:
        """Return the training history to store in the model."""
        return {
            "epochs": self.validated,
            "curve": self.curve,
            "best_epoch": self.best.epoch,
            "steps": self.step,
            "interrupted": self.context.interrupted,
            "train_texts": len(self.train) - self.train.passages,
            "passages": self.train.passages,
            "valid_texts": len(self.valid) + len(self.valid.unknown),
            "pretrain": self.pretraining,
            "distill": self.distillation,
        }

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Microbatch], int]:
        texts = [self.train.ids[i] for i in chosen]
        ngram_features = None if self.train.ngram_features is None else [self.train.ngram_features[i] for i in chosen]
        rng = generator(self.context.seed, Stream.WORDS, step)
        texts, ngram_features = augment(texts, ngram_features, self.settings, rng)
        weights = None if self.sample_weights is None else self.sample_weights[chosen]
        return cut_microbatches(texts, self.train.targets[chosen], ngram_features, weights), len(chosen)

    def objective(
        self, microbatch: Microbatch, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]:
        return loss_and_gradients(self.model, microbatch, grads, rng, count)

    def after_step(self, loss: float, count: int) -> None:
        self.average.step()
        self.recent.append([loss, count])
        total_loss, texts = np.sum(self.recent, axis=0)
        # `full` is the minimum number of texts in the mean of a point of the curve; at the end of an epoch, half of it
        # is enough.
        full = self.settings.batch * max(1, self.per_epoch // _CURVE_POINTS)
        remaining = len(self.train) - self.sums.count
        if remaining == 0 or (texts >= full and remaining >= full / 2):
            self.curve.append([self.step, round(float(total_loss / texts), 5)])
            self.recent = []

    def after_epoch(self, loss: float, accuracy: float) -> None:
        """Validate the averaged weights, and keep them if they are the best so far."""
        record = {
            "epoch": self.sums.epoch,
            "step": self.step,
            "loss": round(loss, 5),
            "accuracy": round(accuracy, 5),
        }
        with self.average.swapped_in():
            # Without held-out texts, a few training texts only show whether the averaged weights give a finite loss.
            examples = self.valid if len(self.valid) else self.train.first(VALID_BATCH)
            valid_loss, valid_accuracy = validate(self.model, examples, self.context.workers)
            if not np.isfinite(valid_loss):
                validated = "held-out" if len(self.valid) else "training"
                raise self.diverged(self.step, f"the loss of the {validated} texts is {valid_loss}")
            improved = not len(self.valid) or valid_loss < self.best.loss
            if improved:
                self.best = BestWeights(valid_loss, self.sums.epoch, [weight.copy() for weight in self.weights])
        if len(self.valid):
            record.update(valid_loss=round(valid_loss, 5), valid_accuracy=round(valid_accuracy, 5))
        self.validated.append(record)
        self.context.on_progress(self.progress(epoch_done=True, improved=improved))

    def should_stop(self) -> bool:
        """Return whether the validation loss has not improved for ``settings.patience`` epochs."""
        worse = self.sums.epoch - 1 - self.best.epoch
        return bool(self.settings.patience and len(self.valid) and worse >= self.settings.patience)

    def progress(self, **more: Any) -> EpochProgress:
        last = self.validated[-1] if self.validated else {}
        valid = {name: last.get(name) for name in ("valid_loss", "valid_accuracy")}
        return super().progress(**valid, **more)

    def parts(self) -> dict[str, Stateful]:
        return {**super().parts(), "average": self.average, "best": self.best}

    def restore(self, arrays: dict[str, NDArray], records: dict[str, Any]) -> None:
        if "best.weights.0" in arrays:  # there are no best weights before the end of the first epoch
            self.best.weights = [weight.copy() for weight in self.weights]
        super().restore(arrays, records)
