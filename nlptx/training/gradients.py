"""The gradient of a batch, formed on all cores, and clipped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from nlptx.nn import Gradients
from nlptx.runtime.shared_memory import shared_empty
from nlptx.runtime.workers import Workers
from nlptx.training.batching import ACCUMULATORS, Microbatch


@dataclass(frozen=True)
class AccumulatorTotals:
    """Totals of one accumulator, beside its gradients.

    Args:
        loss: summed over its texts (or words, in pre-training).
        correct: number of correct predictions.
        distinct: number of words whose vectors have a gradient.
    """

    loss: float
    correct: int
    distinct: int


@dataclass(frozen=True)
class BatchGradient:
    """Loss and gradients of a batch.

    Args:
        loss, correct: as of :class:`AccumulatorTotals`.
        flat: (P,) gradient of the parameters.
        rows, row_gradient: (U,) distinct words and (U, R) gradient of their vectors; empty if frozen.
    """

    loss: float
    correct: int
    flat: NDArray
    rows: NDArray[np.int32]
    row_gradient: NDArray


# Of a microbatch: summed loss, hits and the gradient of its word vectors (N, R). Gradients of parameters are added to
# Gradients.
Objective = Callable[[Microbatch, Gradients, np.random.Generator], tuple[float, int, NDArray]]


def sum_rows(ids: NDArray[np.int32], gradient: NDArray) -> tuple[NDArray[np.int32], NDArray]:
    """Sum the rows of ``gradient`` (N, R) that belong to the same id: distinct ids (U,) and sums (U, R)."""
    order = np.argsort(ids, kind="stable").astype(np.int32)
    ordered = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    # A product with a matrix of ones and zeros. np.add.reduceat takes three to five times as long, 4 % of a step.
    ends = np.append(starts, len(ids)).astype(np.int32)
    ones = np.ones(len(ids), gradient.dtype)
    return ordered[starts], sp.csr_matrix((ones, order, ends), shape=(len(starts), len(ids))) @ gradient


class Accumulators:
    """Memory for the gradients of a batch, as several parts that are formed side by side.

    Every ACCUMULATORS-th microbatch belongs to one accumulator, and every ``world_size``-th accumulator to one rank,
    so that a worker finds its caches filled by the microbatch before. The accumulators are summed in their order. They
    are as many for any number of workers, so no sum depends on it.

    Args:
        world_size: number of ranks.
        size: P, parameters.
        max_words: maximum number of distinct words in a batch; 0 if their vectors are frozen.
        width: R, of the word vectors.
        dtype: of the gradients.
    """

    def __init__(self, world_size: int, size: int, max_words: int, width: int, dtype: DTypeLike) -> None:
        self.world_size = world_size
        self.flat = shared_empty((ACCUMULATORS, size), dtype)
        self.rows = shared_empty((ACCUMULATORS, max_words), np.int32)
        self.row_gradients = shared_empty((ACCUMULATORS, max_words, width), dtype)

    def fill(
        self, rank: int, microbatches: list[Microbatch], seeds: list[np.random.SeedSequence], objective: Objective
    ) -> dict[int, AccumulatorTotals]:
        """Form the gradients in the accumulators of a rank; return their totals by their numbers.

        Args:
            rank: number of the worker, from 0.
            microbatches: of the whole batch.
            seeds: one per microbatch, for dropout.
            objective: of a microbatch.
        """
        seeded = list(zip(microbatches, seeds, strict=True))
        numbers = range(rank, min(ACCUMULATORS, len(microbatches)), self.world_size)
        return {number: self._fill(number, seeded[number::ACCUMULATORS], objective) for number in numbers}

    def _fill(
        self, number: int, seeded: list[tuple[Microbatch, np.random.SeedSequence]], objective: Objective
    ) -> AccumulatorTotals:
        flat = self.flat[number]
        flat[...] = 0
        grads = Gradients(flat)
        distinct = 0
        # The trainer notices an overflow in the loss or the norm.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            done = [
                objective(microbatch, grads, np.random.Generator(np.random.SFC64(seed))) for microbatch, seed in seeded
            ]
            if self.rows.size:
                ids = np.concatenate([microbatch.ids for microbatch, _ in seeded])
                rows, gradient = sum_rows(ids, np.concatenate([dx for _, _, dx in done]))
                distinct = len(rows)
                self.rows[number, :distinct] = rows
                self.row_gradients[number, :distinct] = gradient
        return AccumulatorTotals(sum(loss for loss, _, _ in done), sum(correct for _, correct, _ in done), distinct)

    def sum(self, parts: list[dict[int, AccumulatorTotals]]) -> BatchGradient:
        """Sum what all ranks have filled; the gradients last until the next batch."""
        filled = {number: totals for part in parts for number, totals in part.items()}
        ordered = [filled[number] for number in range(len(filled))]
        flat = self.flat[0]
        for number in range(1, len(ordered)):
            flat += self.flat[number]
        rows = np.concatenate([self.rows[number, : one.distinct] for number, one in enumerate(ordered)])
        gradient = np.concatenate([self.row_gradients[number, : one.distinct] for number, one in enumerate(ordered)])
        if len(ordered) > 1 and len(rows):
            rows, gradient = sum_rows(rows, gradient)
        loss, correct = sum(one.loss for one in ordered), sum(one.correct for one in ordered)
        return BatchGradient(loss, correct, flat, rows, gradient)


class BatchLoss(Protocol):
    """What is lost on a batch; see :class:`nlptx.training.trainer.Trainer`."""

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Microbatch], int]: ...

    def objective(
        self, microbatch: Microbatch, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]: ...

    def seed(self, step: int) -> np.random.SeedSequence: ...


class BatchGradients:
    """Forms gradients of batches with all workers.

    Args:
        loss: what is lost. Workers may be processes, so the weights must be in shared memory.
        accumulators: memory for the gradients.
        workers: as many as the accumulators have ranks.
    """

    def __init__(self, loss: BatchLoss, accumulators: Accumulators, workers: Workers) -> None:
        self.loss, self.accumulators, self.workers = loss, accumulators, workers

    def __call__(self, chosen: NDArray[np.int64], step: int) -> tuple[BatchGradient, int, int]:
        """Return the gradient of a batch, the number that its mean loss is divided by, and its number of tokens.

        Args:
            chosen: (B,) examples.
            step: number of the step, from 0.
        """
        # Plain numbers, because what is pickled should name no class of NumPy.
        parts = self.workers.run_all(self._form, (chosen.tolist(), step))
        _, count, tokens = parts[0]
        return self.accumulators.sum([totals for totals, _, _ in parts]), count, tokens

    def _form(self, batch: tuple[list[int], int], rank: int) -> tuple[dict[int, AccumulatorTotals], int, int]:
        chosen, step = batch
        microbatches, count = self.loss.cut(np.array(chosen), step)
        seeds = self.loss.seed(step).spawn(len(microbatches))
        totals = self.accumulators.fill(rank, microbatches, seeds, partial(self.loss.objective, count=count))
        return totals, count, sum(len(microbatch.ids) for microbatch in microbatches)


def clip(result: BatchGradient, max_norm: float) -> float:
    """Scale the gradients in place so that their common norm is at most ``max_norm`` (0: any); return the norm."""
    norm = float(np.sqrt(np.dot(result.flat, result.flat) + np.vdot(result.row_gradient, result.row_gradient)))
    if max_norm and norm > max_norm:
        result.flat[...] *= max_norm / norm
        result.row_gradient[...] *= max_norm / norm
    return norm
