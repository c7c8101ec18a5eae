"""The training loop: epochs of steps, each epoch judged on held-out texts, the best weights kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import DivergenceError
from nlptx.model import Model
from nlptx.nn import Gradients, Layout
from nlptx.training.average import WeightAverage
from nlptx.training.batches import Share, cut_shares, random_order
from nlptx.training.optimizers import DenseOptimizer, RowOptimizer, learning_rate
from nlptx.training.prepare import Examples
from nlptx.training.progress import Progress
from nlptx.training.step import batch_gradient, clip

# Points of the loss curve kept per epoch.
_CURVE_POINTS = 20
# Texts validated at a time; few, as the attention weights of all of them are held.
_VALID_BATCH = 8


@dataclass
class Best:
    """The best weights so far, by validation loss."""

    loss: float = float("inf")
    epoch: int = 0
    weights: list[NDArray] = field(default_factory=list)


class Training:
    """One training run over labelled examples.

    Args:
        model: trained in place.
        train, valid: the examples; without validation texts the last epoch counts as the best.
        seed: of shuffling and dropout.
        pool: threads for the shares of a batch.
        on_progress: called after every step.
        stop: asked before every step; True ends the training early.
    """

    def __init__(
        self,
        model: Model,
        train: Examples,
        valid: Examples,
        seed: int,
        pool: Executor,
        on_progress: Callable[[Progress], None],
        stop: Callable[[], bool],
    ) -> None:
        self.model, self.train, self.valid = model, train, valid
        self.settings = model.settings
        self.seed, self.pool = seed, pool
        self.on_progress, self.stop = on_progress, stop
        self.weights = [model.flat] if self.settings.freeze else [model.flat, model.table]
        self.dense = DenseOptimizer(model.flat, model.network, self.settings)
        self.rows = RowOptimizer(model.table, self.settings)
        self.average = WeightAverage(self.weights, self.settings.average)
        self.best = Best()
        self.epochs: list[dict[str, Any]] = []
        self.curve: list[list[float]] = []
        per_epoch = -(-len(train) // self.settings.batch)
        self.steps = per_epoch * self.settings.epochs
        self.step = 0
        self.interrupted = False

    def run(self) -> dict[str, Any]:
        """Train; leave the best weights in the model; return the history.

        Raises:
            DivergenceError: the loss or the gradient became infinite or NaN.
        """
        clock = _Clock()
        for epoch in range(1, self.settings.epochs + 1):
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # checked for instead
                before = self.step
                loss, accuracy = self._epoch(epoch, clock)
            if self.step > before:
                self._judge(epoch, loss, accuracy, clock)
            worse = epoch - self.best.epoch
            if self.interrupted or (self.settings.patience and len(self.valid) and worse >= self.settings.patience):
                break
        for weight, best in zip(self.weights, self.best.weights, strict=False):
            np.copyto(weight, best)
        return {
            "epochs": self.epochs,
            "curve": self.curve,
            "best_epoch": self.best.epoch,
            "steps": self.step,
            "interrupted": self.interrupted,
            "train_texts": len(self.train),
            "valid_texts": len(self.valid),
        }

    def _epoch(self, epoch: int, clock: _Clock) -> tuple[float, float]:
        """Take the steps of an epoch; return the mean loss and the accuracy on its training texts."""
        rng = np.random.default_rng([self.seed, epoch])
        batches = list(random_order(len(self.train), self.settings.batch, rng))
        every = max(1, len(batches) // _CURVE_POINTS)
        total = seen = hits = 0.0
        recent: list[float] = []
        for number, chosen in enumerate(batches, start=1):
            if self.stop():
                self.interrupted = True
                break
            clock.resume()
            loss, correct, tokens = self._step(chosen, rng)
            clock.pause(tokens)
            total, seen, hits = total + loss, seen + len(chosen), hits + correct
            recent.append(loss / len(chosen))
            if number % every == 0 or number == len(batches):
                self.curve.append([self.step, round(float(np.mean(recent)), 5)])
                recent = []
            self.on_progress(self._progress(epoch, total / seen, clock))
        return (total / seen, hits / seen) if seen else (0.0, 0.0)

    def _step(self, chosen: NDArray[np.int64], rng: np.random.Generator) -> tuple[float, int, int]:
        texts = [self.train.ids[i] for i in chosen]
        evidence = None if self.train.evidence is None else [self.train.evidence[i] for i in chosen]
        shares = cut_shares(texts, self.train.targets[chosen], self.settings.word_dropout, rng, evidence)
        seeds = np.random.SeedSequence([self.seed, self.step]).spawn(len(shares))
        count = len(chosen)

        def objective(share: Share, grads: Gradients, rng: np.random.Generator) -> tuple[float, int, NDArray]:
            return classify(self.model, share, grads, rng, count)

        flat = self.model.flat
        result = batch_gradient(shares, objective, flat.size, flat.dtype, self.settings.freeze, seeds, self.pool)
        norm = clip(result, self.settings.clip)
        if not np.isfinite(result.loss) or not np.isfinite(norm):
            raise self._diverged(self.step + 1, f"the loss is {result.loss}, the gradient's norm {norm}")
        lr = learning_rate(self.settings, self.step, self.steps)
        self.dense.step(result.flat, lr)
        if not self.settings.freeze:
            self.rows.step(result.rows, result.row_gradient, lr * self.settings.embedding_lr)
        self.average.step()
        self.step += 1
        return result.loss, result.correct, sum(len(share.ids) for share in shares)

    def _diverged(self, step: int, what: str) -> DivergenceError:
        return DivergenceError(
            f"training diverged at step {step}: {what}",
            hint=f"Lower --lr (now {self.settings.lr:g}), raise --warmup, or set --clip 1.",
        )

    def _judge(self, epoch: int, loss: float, accuracy: float, clock: _Clock) -> None:
        """Validate the averaged weights, and keep them if they are the best so far."""
        record: dict[str, Any] = {
            "epoch": epoch,
            "step": self.step,
            "loss": round(loss, 5),
            "accuracy": round(accuracy, 5),
        }
        with self.average.swapped_in():
            judged = self.valid if len(self.valid) else self.train.first(_VALID_BATCH)
            valid_loss, valid_accuracy = validate(self.model, judged, self.pool)
            if not np.isfinite(valid_loss):
                raise self._diverged(self.step, f"held-out texts have the loss {valid_loss}")
            improved = not len(self.valid) or valid_loss < self.best.loss
            if improved:
                self.best = Best(valid_loss, epoch, [weight.copy() for weight in self.weights])
        if len(self.valid):
            record.update(valid_loss=round(valid_loss, 5), valid_accuracy=round(valid_accuracy, 5))
        self.epochs.append(record)
        self.on_progress(self._progress(epoch, loss, clock, done=True, improved=improved))

    def _progress(self, epoch: int, loss: float, clock: _Clock, done: bool = False, improved: bool = False) -> Progress:
        last = self.epochs[-1] if self.epochs else {}
        return Progress(
            "train",
            epoch,
            self.settings.epochs,
            self.step,
            self.steps,
            loss,
            clock.tokens / max(clock.seconds, 1e-9),
            clock.seconds / max(self.step, 1) * (self.steps - self.step),
            last.get("valid_accuracy"),
            last.get("valid_loss"),
            done,
            improved,
        )


def classify(
    model: Model, share: Share, grads: Gradients, rng: np.random.Generator, count: int
) -> tuple[float, int, NDArray]:
    """Return loss, hits and word-vector gradient of a share; the gradients are of the mean over ``count`` texts."""
    layout = Layout(share.lengths, model.settings.window, model.settings.causal)
    outputs, cache = model.network.forward(model.table[share.ids], layout, rng, share.places, share.whole)
    loss, doutputs = model.network.loss.value_and_gradient(outputs, share.targets)
    doutputs /= count
    dx = model.network.backward(doutputs, cache, grads)
    guessed = model.network.loss.probabilities(outputs).argmax(axis=1)
    return float(loss.sum()), int((guessed == share.targets).sum()), dx


def validate(model: Model, examples: Examples, pool: Executor) -> tuple[float, float]:
    """Return mean loss and accuracy over at least one example."""
    order = np.argsort([len(ids) for ids in examples.ids], kind="stable")

    def work(rows: NDArray[np.int64]) -> tuple[float, int]:
        targets = examples.targets[rows]
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # the caller looks at the loss
            outputs, _, _ = model.outputs([examples.ids[row] for row in rows])
            loss, _ = model.network.loss.value_and_gradient(outputs, targets)
        guessed = model.network.loss.probabilities(outputs).argmax(axis=1)
        return float(loss.sum()), int((guessed == targets).sum())

    parts = list(pool.map(work, _slices(order)))
    return sum(loss for loss, _ in parts) / len(examples), sum(hits for _, hits in parts) / len(examples)


def _slices(order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(order), _VALID_BATCH):
        yield order[start : start + _VALID_BATCH]


class _Clock:
    """Seconds and tokens of the steps alone."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.tokens = 0
        self._since = 0.0

    def resume(self) -> None:
        self._since = time.perf_counter()

    def pause(self, tokens: int) -> None:
        self.seconds += time.perf_counter() - self._since
        self.tokens += tokens
