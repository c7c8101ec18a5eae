"""Computes the gradient of a batch with up to ACCUMULATORS workers, and clips gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from nlptx.nn import Gradients
from nlptx.runtime.shared_memory import shared_zeros
from nlptx.runtime.workers import Workers
from nlptx.training.batching import ACCUMULATORS, Microbatch


@dataclass(frozen=True)
class AccumulatorTotals:
    """Loss and counts of the microbatches of one accumulator.

    Args:
        loss: summed loss of the texts (or words, in pre-training).
        correct: number of correct predictions.
        distinct: number of distinct words whose vectors have a gradient.
    """

    loss: float
    correct: int
    distinct: int


@dataclass(frozen=True)
class BatchGradient:
    """Loss and gradients of a batch.

    Args:
        loss, correct: totals, as in :class:`AccumulatorTotals`.
        flat: (P,) gradient of the parameters.
        rows, row_gradient: (U,) ids of the distinct words and (U, R) gradient of their vectors; empty if the word
            vectors are frozen.
    """

    loss: float
    correct: int
    flat: NDArray
    rows: NDArray[np.int32]
    row_gradient: NDArray


# Function that returns the summed loss of a microbatch, the number of correct predictions and the gradient of its word
# vectors (N, R). The function also adds the gradients of the parameters to the given Gradients.
Objective = Callable[[Microbatch, Gradients, np.random.Generator], tuple[float, int, NDArray]]


def sum_rows(ids: NDArray[np.int32], gradient: NDArray) -> tuple[NDArray[np.int32], NDArray]:
    """Sum the rows of ``gradient`` (N, R) that have the same id; return the distinct ids (U,) and the sums (U, R)."""
    order = np.argsort(ids, kind="stable").astype(np.int32)
    ordered = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    # The sums are computed as a product with a sparse matrix of ones. With np.add.reduceat, which takes three to five
    # times as long, a training step would take up to 4% longer.
    indptr = np.append(starts, len(ids)).astype(np.int32)
    ones = np.ones(len(ids), gradient.dtype)
    return ordered[starts], sp.csr_matrix((ones, order, indptr), shape=(len(starts), len(ids))) @ gradient


class Accumulators:
    """Memory for the gradients of a batch, divided into accumulators that are filled in parallel.

    Microbatches m, m + ACCUMULATORS, ... belong to the same accumulator, and accumulators a, a + world_size, ... to the
    same rank. A worker therefore adds the gradients of several microbatches to one accumulator before it turns to the
    next accumulator, which makes good use of the processor cache. The accumulators are summed in a fixed order, and
    their number is fixed too, so the sums do not depend on the number of workers.

    Args:
        world_size: number of ranks.
        size: P, number of parameters.
        max_words: maximum number of distinct words in a batch; 0 if their vectors are frozen.
        width: R, length of the word vectors.
        dtype: dtype of the gradients.
    """

    def __init__(self, world_size: int, size: int, max_words: int, width: int, dtype: DTypeLike) -> None:
        self.world_size = world_size
        self.flat = shared_zeros((ACCUMULATORS, size), dtype)
        self.rows = shared_zeros((ACCUMULATORS, max_words), np.int32)
        self.row_gradients = shared_zeros((ACCUMULATORS, max_words, width), dtype)

    def fill(
        self, rank: int, microbatches: list[Microbatch], seeds: list[np.random.SeedSequence], objective: Objective
    ) -> dict[int, AccumulatorTotals]:
        """Compute the gradients for the accumulators of one rank. Return the totals by accumulator number.

        Args:
            rank: number of the worker, from 0.
            microbatches: all microbatches of the batch.
            seeds: dropout seed of each microbatch.
            objective: function that computes the loss and gradients of a microbatch.
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
        # NumPy's warnings are off, because the trainer checks the loss and the norm of the gradient for overflow.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            results = [
                objective(microbatch, grads, np.random.Generator(np.random.SFC64(seed))) for microbatch, seed in seeded
            ]
            if self.rows.size:
                ids = np.concatenate([microbatch.ids for microbatch, _ in seeded])
                rows, gradient = sum_rows(ids, np.concatenate([dx for _, _, dx in results]))
                distinct = len(rows)
                self.rows[number, :distinct] = rows
                self.row_gradients[number, :distinct] = gradient
        return AccumulatorTotals(
            sum(loss for loss, _, _ in results), sum(correct for _, correct, _ in results), distinct
        )

    def sum(self, parts: list[dict[int, AccumulatorTotals]]) -> BatchGradient:
        """Sum the accumulators of all ranks. The returned gradients are valid until the next batch."""
        filled = {number: totals for part in parts for number, totals in part.items()}
        ordered = [filled[number] for number in range(len(filled))]
        flat = self.flat[0]
        for number in range(1, len(ordered)):
            flat += self.flat[number]
        rows = np.concatenate([self.rows[number, : totals.distinct] for number, totals in enumerate(ordered)])
        gradient = np.concatenate(
            [self.row_gradients[number, : totals.distinct] for number, totals in enumerate(ordered)]
        )
        if len(ordered) > 1 and len(rows):
            rows, gradient = sum_rows(rows, gradient)
        loss, correct = sum(totals.loss for totals in ordered), sum(totals.correct for totals in ordered)
        return BatchGradient(loss, correct, flat, rows, gradient)


class BatchLoss(Protocol):
    """Interface of a batch loss; see :class:`nlptx.training.trainer.Trainer`."""

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Microbatch], int]: ...

    def objective(
        self, microbatch: Microbatch, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]: ...

    def seed(self, step: int) -> np.random.SeedSequence: ...


class BatchGradients:
    """Computes the gradients of batches with all workers.

    Args:
        loss: loss to differentiate. If the workers are processes, the weights of the model must be in shared memory.
        accumulators: memory for the gradients.
        workers: workers to use, one per rank of the accumulators.
    """

    def __init__(self, loss: BatchLoss, accumulators: Accumulators, workers: Workers) -> None:
        self.loss, self.accumulators, self.workers = loss, accumulators, workers

    def __call__(self, chosen: NDArray[np.int64], step: int) -> tuple[BatchGradient, int, int]:
        """Return the gradient of a batch, the number of texts (or words) it is averaged over, and the number of tokens.

        Args:
            chosen: (B,) indices of the examples.
            step: number of the step, from 0.
        """
        # Convert to Python integers, so that the pickled data refers to no NumPy class.
        parts = self.workers.run_all(self._compute, (chosen.tolist(), step))
        _, count, tokens = parts[0]
        return self.accumulators.sum([totals for totals, _, _ in parts]), count, tokens

    def _compute(self, batch: tuple[list[int], int], rank: int) -> tuple[dict[int, AccumulatorTotals], int, int]:
        chosen, step = batch
        microbatches, count = self.loss.cut(np.array(chosen), step)
        seeds = self.loss.seed(step).spawn(len(microbatches))
        totals = self.accumulators.fill(rank, microbatches, seeds, partial(self.loss.objective, count=count))
        return totals, count, sum(len(microbatch.ids) for microbatch in microbatches)


def clip(result: BatchGradient, max_norm: float) -> float:
    """Scale the gradients in place so that their global norm is at most ``max_norm``. Return the norm before scaling.

    If ``max_norm`` is 0, the gradients are not scaled.
    """
    norm = float(np.sqrt(np.dot(result.flat, result.flat) + np.vdot(result.row_gradient, result.row_gradient)))
    if max_norm and norm > max_norm:
        result.flat[...] *= max_norm / norm
        result.row_gradient[...] *= max_norm / norm
    return norm
