"""What pre-training, distillation and training share: epochs of steps over texts, with a checkpoint now and then."""

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
from nlptx.training.batching import ACCUMULATORS, Microbatch, random_order
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Examples
from nlptx.training.gradients import Accumulators, BatchGradient, BatchGradients, clip
from nlptx.training.optimizers import DenseOptimizer, RowOptimizer, learning_rate
from nlptx.training.progress import Clock, Progress
from nlptx.training.state import State, Stateful, collect, put_back


@dataclass
class Sums:
    """The epoch under way.

    Args:
        epoch: from 1; one more than there are when all are done.
        batches: done in it.
        loss: summed over its texts (or words, in pre-training).
        correct: how many of them were right.
        count: how many there were.
    """

    STATE: ClassVar = ("epoch", "batches", "loss", "correct", "count")

    epoch: int = 1
    batches: int = 0
    loss: float = 0.0
    correct: int = 0
    count: int = 0


class Trainer:
    """Base class. A phase says what is lost on a share of a batch, and what to do when an epoch is over.

    Args:
        model: trained in place.
        flat: (P,) the parameters; like the word vectors, in memory that workers share.
        layer: whose parameters they are.
        train: the examples.
        epochs: to take.
        control: seed, workers, and whom to tell.
    """

    name: ClassVar[str]  # in Progress and checkpoints
    title: ClassVar[str]  # in messages
    order: ClassVar[Stream]
    dropout: ClassVar[Stream]
    RECORDS: ClassVar[tuple[str, ...]]  # attributes that are lists of JSON values
    STATE: ClassVar = ("weights",)

    def __init__(
        self, model: Model, flat: NDArray, layer: Layer, train: Examples, epochs: int, control: TrainingContext
    ) -> None:
        self.model, self.flat, self.train = model, flat, train
        self.settings = model.settings
        self.control = control
        self.weights = [flat] if self.settings.freeze else [flat, model.table]
        self.dense = DenseOptimizer(flat, layer, self.settings)
        self.rows = RowOptimizer(model.table, self.settings)
        self.sums = Sums()
        self.epochs = epochs
        self.per_epoch = -(-len(train) // self.settings.batch)
        self.steps = self.per_epoch * epochs
        self.clock = Clock()
        self.interrupted = False

    # ------------------------------------------------------------ what a phase says for itself

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Microbatch], int]:
        """Return the microbatches of a batch, and the number of texts (or words) that its loss is the mean of.

        Args:
            chosen: (B,) examples.
            step: at which, from 0.
        """
        raise NotImplementedError

    def objective(
        self, microbatch: Microbatch, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]:
        """Return summed loss, hits and word-vector gradient of a share; gradients are of the mean over ``count``."""
        raise NotImplementedError

    def seed(self, step: int) -> np.random.SeedSequence:
        """Return the seed of the dropout of a step."""
        return seed_sequence(self.control.seed, self.dropout, step)

    def after_step(self, loss: float) -> None:
        """Take note of a step and its mean loss."""

    def after_epoch(self, loss: float, accuracy: float) -> None:
        """Take note of an epoch, maybe cut short, and its means."""

    def is_over(self) -> bool:
        """Tell whether to stop before the last epoch."""
        return False

    def parts(self) -> dict[str, Stateful]:
        """Return everything with a state."""
        rows = {} if self.settings.freeze else {"rows": self.rows}
        return {"phase": self, "sums": self.sums, "dense": self.dense, **rows}

    # ------------------------------------------------------------ the loop

    @property
    def step(self) -> int:
        """Steps taken so far."""
        return (self.sums.epoch - 1) * self.per_epoch + self.sums.batches

    def run(self) -> None:
        """Take the epochs that are left.

        Raises:
            DivergenceError: a NaN or an infinity came up.
        """
        self.control.checkpoint.restore(self)
        with self.stepping():
            self._take_epochs()

    def _take_epochs(self) -> None:
        checkpoint = self.control.checkpoint
        while self.sums.epoch <= self.epochs and not self.is_over():
            for chosen in self._batches_left():
                if self.control.stop():
                    self.interrupted = True
                    checkpoint.save(self.state())
                    break
                self.take_step(chosen)
                self.control.on_progress(self.progress())
                checkpoint.offer(self.state)
            if self.sums.batches:
                self.after_epoch(self.sums.loss / self.sums.count, self.sums.correct / self.sums.count)
            if self.interrupted:
                return
            self.sums = Sums(self.sums.epoch + 1)
            checkpoint.offer(self.state, epoch_done=True)

    def _batches_left(self) -> Iterator[NDArray[np.int64]]:
        rng = generator(self.control.seed, self.order, self.sums.epoch)
        batches = list(random_order(len(self.train), self.settings.batch, rng))
        return iter(batches[self.sums.batches :])

    @contextmanager
    def stepping(self) -> Iterator[None]:
        """Make ready to take steps, for the length of a block."""
        lengths = np.sort([len(ids) for ids in self.train.ids])
        words = 0 if self.settings.freeze else min(len(self.model.table), int(lengths[-self.settings.batch :].sum()))
        with self.control.workers.at_most(ACCUMULATORS) as workers:
            width, dtype = self.model.table.shape[1], self.flat.dtype
            accumulators = Accumulators(workers.jobs, self.flat.size, words, width, dtype)
            self._gradient = BatchGradients(self, accumulators, workers)
            try:
                yield
            finally:
                del self._gradient  # it refers to this trainer, and the memory it holds is large

    # An overflow shows in the loss or the norm.
    @np.errstate(over="ignore", invalid="ignore", divide="ignore")
    def take_step(self, chosen: NDArray[np.int64]) -> None:
        """Take one step, on the examples ``chosen`` (B,)."""
        self.clock.resume()
        result, count, tokens = self._gradient(chosen, self.step)
        self._clip(result)
        lr = learning_rate(self.settings, self.step, self.steps)
        self.dense.step(result.flat, lr)
        if not self.settings.freeze:
            self.rows.step(result.rows, result.row_gradient, lr * self.settings.embedding_lr)
        sums = self.sums
        sums.batches += 1
        sums.loss, sums.correct, sums.count = sums.loss + result.loss, sums.correct + result.correct, sums.count + count
        self.after_step(result.loss / count)
        self.clock.pause(tokens)

    def _clip(self, result: BatchGradient) -> None:
        norm = clip(result, self.settings.clip)
        if not np.isfinite(result.loss) or not np.isfinite(norm):
            raise self.diverged(self.step + 1, f"the loss is {result.loss}, the gradient's norm {norm}")

    def diverged(self, step: int, what: str) -> DivergenceError:
        """Return the error to raise."""
        gentler = "raise --warmup" if self.settings.clip else "raise --warmup, or set --clip 1"
        return DivergenceError(
            f"{self.title} diverged at step {step}: {what}",
            hint=f"Lower --lr (now {self.settings.lr:g}), --embedding-lr or --weight-decay; or {gentler}.",
        )

    def progress(self, **more: Any) -> Progress:
        """Return where the phase stands."""
        rest = self.clock.seconds / max(self.clock.steps, 1) * (self.steps - self.step)
        speed = self.clock.tokens / max(self.clock.seconds, 1e-9)
        loss = self.sums.loss / max(self.sums.count, 1)
        return Progress(self.name, self.sums.epoch, self.epochs, self.step, self.steps, loss, speed, rest, **more)

    # ------------------------------------------------------------ checkpoints

    def state(self) -> State:
        """Return the state, for a checkpoint."""
        records = {name: getattr(self, name) for name in self.RECORDS}
        return State(self.name, self.sums.epoch, self.step, collect(self.parts()), records)

    def restore(self, arrays: dict[str, NDArray], records: dict[str, Any]) -> None:
        """Take the state back. Raises CorruptError where it does not fit."""
        put_back(self.parts(), arrays)
        if not (1 <= self.sums.epoch <= self.epochs + 1 and 0 <= self.sums.batches <= self.per_epoch):
            raise CorruptError(f"it stood in epoch {self.sums.epoch}, after {self.sums.batches} batches")
        for name in self.RECORDS:
            if type(records[name]) is not list:
                raise CorruptError(f"its record {name!r} is damaged")
            setattr(self, name, records[name])


class Preparation(Trainer):
    """Base class of what comes before the labels; arguments as of :class:`Trainer`."""

    RECORDS = ("history",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.history: list[dict[str, float]] = []

    def after_epoch(self, loss: float, accuracy: float) -> None:
        self.history.append({"epoch": self.sums.epoch, "loss": round(loss, 5), "accuracy": round(accuracy, 5)})
