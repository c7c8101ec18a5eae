"""Training loop shared by pre-training, distillation and supervised training, with checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.errors import CorruptError, DivergenceError
from nlptx.nn import Gradients, Layer
from nlptx.sampling.rng_streams import Stream, generator, seed_sequence
from nlptx.training.batching import ACCUMULATORS, Microbatch, shuffled_batches
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Examples
from nlptx.training.gradients import Accumulators, BatchGradient, BatchGradients, clip
from nlptx.training.optimizers import DenseOptimizer, RowOptimizer, learning_rate
from nlptx.training.progress import Clock, EpochProgress
from nlptx.training.state import State, Stateful, collect, restore_state

# Training has diverged if the mean loss of an epoch exceeds this many nats per decision: per text or, in multi-label
# classification, per label of a text. For comparison, a uniform prediction over a million words has a loss of 14 nats.
_DIVERGED_LOSS = 100.0


@dataclass
class Sums:
    """Totals of the current epoch.

    Args:
        epoch: number of the current epoch, from 1; after the last epoch, the number of epochs plus 1.
        batches: number of batches completed.
        loss: sum of the losses of the texts (or words, in pre-training).
        correct: number of correct predictions.
        count: number of texts (or words).
    """

    STATE: ClassVar = ("epoch", "batches", "loss", "correct", "count")

    epoch: int = 1
    batches: int = 0
    loss: float = 0.0
    correct: int = 0
    count: int = 0


class Trainer:
    """Base class of trainers. Subclasses define the loss of a microbatch, and what to do at the end of an epoch.

    Args:
        model: model to train; modified in place.
        flat: (P,) parameters of ``layer``; like the word vectors, they are in shared memory.
        layer: layer whose parameters are in ``flat``.
        train: training examples.
        epochs: number of passes over the examples.
        context: seed, workers and callbacks.
    """

    name: ClassVar[str]  # name of the phase in progress reports and checkpoints
    title: ClassVar[str]  # name of the phase in messages
    order_stream: ClassVar[Stream]  # random numbers for the order of the examples
    dropout_stream: ClassVar[Stream]  # random numbers for dropout
    RECORDS: ClassVar[tuple[str, ...]]  # attributes to save in a checkpoint as lists of JSON values
    STATE: ClassVar = ("weights",)

    def __init__(
        self, model: Model, flat: NDArray, layer: Layer, train: Examples, epochs: int, context: TrainingContext
    ) -> None:
        self.model, self.flat, self.train = model, flat, train
        self.settings = model.settings
        self.context = context
        self.weights = [flat] if self.settings.freeze else [flat, model.table]
        self.dense = DenseOptimizer(flat, layer, self.settings)
        self.rows = RowOptimizer(model.table, self.settings)
        self.sums = Sums()
        self.epochs = epochs
        self.per_epoch = -(-len(train) // self.settings.batch)
        self.steps = self.per_epoch * epochs
        self.clock = Clock()

    # ------------------------------------------------------------ methods that subclasses define

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Microbatch], int]:
        """Return the microbatches of a batch, and the number of texts (or words) over which the loss is averaged.

        Args:
            chosen: (B,) indices of the examples in the batch.
            step: number of the step, from 0.
        """
        raise NotImplementedError

    def objective(
        self, microbatch: Microbatch, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]:
        """Return the summed loss of a microbatch, the number of correct predictions and the word-vector gradient.

        The gradients of the parameters are added to ``grads``. All gradients are derivatives of the summed loss divided
        by ``count``, the number of texts (or words) in the batch.
        """
        raise NotImplementedError

    def seed(self, step: int) -> np.random.SeedSequence:
        """Return the dropout seed of a step."""
        return seed_sequence(self.context.seed, self.dropout_stream, step)

    def after_step(self, loss: float, count: int) -> None:
        """Record a step, given its summed loss and its number of texts (or words)."""

    def after_epoch(self, loss: float, accuracy: float) -> None:
        """Record a complete or interrupted epoch, given its mean loss and accuracy."""

    def should_stop(self) -> bool:
        """Return whether to end training now, although epochs remain."""
        return False

    def parts(self) -> dict[str, Stateful]:
        """Return all objects whose state is stored in a checkpoint, by name."""
        rows = {} if self.settings.freeze else {"rows": self.rows}
        return {"phase": self, "sums": self.sums, "dense": self.dense, **rows}

    # ------------------------------------------------------------ training loop

    @property
    def step(self) -> int:
        """Number of steps taken so far."""
        return (self.sums.epoch - 1) * self.per_epoch + self.sums.batches

    def run(self) -> None:
        """Train for the remaining epochs. Do nothing if training was interrupted in an earlier phase.

        Raises:
            DivergenceError: the loss exploded, or became NaN or infinite.
        """
        if self.context.interrupted:
            return
        self.context.checkpoint.restore(self)
        with self.stepping():
            self._run_epochs()

    def _run_epochs(self) -> None:
        checkpoint = self.context.checkpoint
        while self.sums.epoch <= self.epochs and not self.should_stop():
            for chosen in self._batches_left():
                if self.context.stop_requested():
                    checkpoint.save(self.state())
                    break
                self.take_step(chosen)
                self.context.on_progress(self.progress())
                checkpoint.save_if_due(self.state)
            if self.sums.batches:
                loss = self.sums.loss / self.sums.count
                if loss > _DIVERGED_LOSS * self.model.network.loss.decisions and not self.context.interrupted:
                    raise self.diverged(self.step, f"the mean loss of epoch {self.sums.epoch} is {loss:,.0f}")
                self.after_epoch(loss, self.sums.correct / self.sums.count)
            if self.context.interrupted:
                return
            self.sums = Sums(self.sums.epoch + 1)
            checkpoint.save_if_due(self.state, epoch_done=True)

    def _batches_left(self) -> Iterator[NDArray[np.int64]]:
        rng = generator(self.context.seed, self.order_stream, self.sums.epoch)
        return shuffled_batches(len(self.train), self.settings.batch, rng, self.sums.batches)

    @contextmanager
    def stepping(self) -> Iterator[None]:
        """Context manager: allocate memory and start workers for the optimiser steps within the block."""
        lengths = np.sort(self.train.ids.lengths)
        words = 0 if self.settings.freeze else min(len(self.model.table), int(lengths[-self.settings.batch :].sum()))
        with self.context.workers.at_most(ACCUMULATORS) as workers:
            width, dtype = self.model.table.shape[1], self.flat.dtype
            accumulators = Accumulators(workers.jobs, self.flat.size, words, width, dtype)
            self._gradient = BatchGradients(self, accumulators, workers)
            try:
                yield
            finally:
                del self._gradient  # breaks a reference cycle, so that the large buffers are freed immediately

    # NumPy need not warn of overflow: _clip_and_check raises an error if the loss or the norm is not finite.
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def take_step(self, chosen: NDArray[np.int64]) -> None:
        """Take one optimiser step.

        Args:
            chosen: (B,) indices of the examples in the batch.
        """
        self.clock.resume()
        result, count, tokens = self._gradient(chosen, self.step)
        self._clip_and_check(result)
        lr = learning_rate(self.settings, self.step, self.steps)
        self.dense.step(result.flat, lr)
        if not self.settings.freeze:
            self.rows.step(result.rows, result.row_gradient, lr * self.settings.embedding_lr)
        sums = self.sums
        sums.batches += 1
        sums.loss, sums.correct, sums.count = sums.loss + result.loss, sums.correct + result.correct, sums.count + count
        self.after_step(result.loss, count)
        self.clock.pause(tokens)

    def _clip_and_check(self, result: BatchGradient) -> None:
        norm = clip(result, self.settings.clip)
        if not np.isfinite(result.loss) or not np.isfinite(norm):
            raise self.diverged(self.step + 1, f"the loss is {result.loss}, and the norm of the gradient is {norm}")

    def diverged(self, step: int, what: str) -> DivergenceError:
        """Return the error to raise when training diverges; ``what`` is a description of the problem."""
        advice = "raise `warmup`" if self.settings.clip else "raise `warmup`, or set `clip=1`"
        return DivergenceError(
            f"{self.title} diverged at step {step}: {what}",
            hint=f"Lower `lr` (now {self.settings.lr:g}), `embedding_lr` or `weight_decay`; or {advice}.",
        )

    def progress(self, **more: Any) -> EpochProgress:
        """Return a progress report of this trainer."""
        rest = self.clock.seconds / max(self.clock.steps, 1) * (self.steps - self.step)
        speed = self.clock.tokens / max(self.clock.seconds, 1e-9)
        loss = self.sums.loss / max(self.sums.count, 1)
        return EpochProgress(
            title=self.title,
            fraction=self.step / self.steps,
            phase=self.name,
            epoch=self.sums.epoch,
            epochs=self.epochs,
            step=self.step,
            steps=self.steps,
            loss=loss,
            tokens_per_second=speed,
            seconds_left=rest,
            **more,
        )

    # ------------------------------------------------------------ checkpoints

    def state(self) -> State:
        """Return the state to store in a checkpoint."""
        records = {name: getattr(self, name) for name in self.RECORDS}
        return State(self.name, self.sums.epoch, self.step, collect(self.parts()), records)

    def restore(self, arrays: dict[str, NDArray], records: dict[str, Any]) -> None:
        """Restore a state that was stored in a checkpoint. Raises CorruptError if the state does not match."""
        restore_state(self.parts(), arrays)
        if not (1 <= self.sums.epoch <= self.epochs + 1 and 0 <= self.sums.batches <= self.per_epoch):
            raise CorruptError(f"it records an invalid position: epoch {self.sums.epoch}, batch {self.sums.batches}")
        for name in self.RECORDS:
            if type(records[name]) is not list:
                raise CorruptError(f"its record {name!r} is damaged")
            setattr(self, name, records[name])
