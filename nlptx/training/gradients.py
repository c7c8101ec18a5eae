"""The gradient of a batch, formed on all cores, and clipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from nlptx.nn import Gradients
from nlptx.runtime.crew import crew
from nlptx.runtime.radix_sort import radix_argsort
from nlptx.runtime.shared_memory import shared_empty
from nlptx.training.batching import ACCUMULATORS, Microbatch


@dataclass(frozen=True)
class AccumulatorTotals:
    """What a lane comes to, beside its gradients.

    Args:
        loss: summed over its texts (or words, in pre-training).
        correct: how many it got right.
        distinct: words whose vectors have a gradient.
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
    count = len(ids)
    order = radix_argsort(ids).astype(np.int32)
    ordered = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    # A product with a matrix of ones and zeros; np.add.reduceat takes twenty times as long.
    ends = np.append(starts, count).astype(np.int32)
    ones = np.ones(count, gradient.dtype)
    return ordered[starts], sp.csr_matrix((ones, order, ends), shape=(len(starts), count)) @ gradient


class Accumulators:
    """The gradients of a batch, one accumulator after the other.

    Every ACCUMULATORS-th microbatch belongs to one accumulator, and every accumulator to one worker. All microbatches
    of an accumulator add into one gradient, in memory that all workers share; then the accumulators are summed in
    their order.

    Args:
        members: of the crew.
        size: P, parameters.
        most_words: distinct words of a batch, at most; 0 if their vectors are frozen.
        width: R, of the word vectors.
        dtype: of the gradients.
    """

    def __init__(self, members: int, size: int, most_words: int, width: int, dtype: DTypeLike) -> None:
        self.members = members
        self.flat = shared_empty((ACCUMULATORS, size), dtype)
        self.rows = shared_empty((ACCUMULATORS, most_words), np.int32)
        self.row_gradients = shared_empty((ACCUMULATORS, most_words, width), dtype)

    def fill(
        self, member: int, microbatches: list[Microbatch], seeds: list[np.random.SeedSequence], objective: Objective
    ) -> dict[int, AccumulatorTotals]:
        """Form the gradients of a member's lanes, and return what they come to by their numbers.

        Args:
            member: its number, from 0.
            microbatches: of the whole batch.
            seeds: one a microbatch, for dropout.
            objective: of a microbatch.
        """
        given = list(zip(microbatches, seeds, strict=True))
        own = range(member, min(ACCUMULATORS, len(microbatches)), self.members)
        return {lane: self._fill(lane, given[lane::ACCUMULATORS], objective) for lane in own}

    def _fill(
        self, lane: int, given: list[tuple[Microbatch, np.random.SeedSequence]], objective: Objective
    ) -> AccumulatorTotals:
        flat = self.flat[lane]
        flat[...] = 0
        grads = Gradients(flat)
        distinct = 0
        # An overflow shows in the loss or the norm, which the loop checks.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            done = [
                objective(microbatch, grads, np.random.Generator(np.random.SFC64(seed))) for microbatch, seed in given
            ]
            if self.rows.size:
                ids = np.concatenate([microbatch.ids for microbatch, _ in given])
                rows, gradient = sum_rows(ids, np.concatenate([dx for _, _, dx in done]))
                distinct = len(rows)
                self.rows[lane, :distinct] = rows
                self.row_gradients[lane, :distinct] = gradient
        return AccumulatorTotals(sum(loss for loss, _, _ in done), sum(correct for _, correct, _ in done), distinct)

    def total(self, parts: list[dict[int, AccumulatorTotals]]) -> BatchGradient:
        """Sum up the lanes that the members filled; the gradients last until they are filled again."""
        filled = {lane: sums for part in parts for lane, sums in part.items()}
        sums = [filled[lane] for lane in range(len(filled))]
        flat = self.flat[0]
        for lane in range(1, len(sums)):
            flat += self.flat[lane]
        rows = np.concatenate([self.rows[lane, : one.distinct] for lane, one in enumerate(sums)])
        gradient = np.concatenate([self.row_gradients[lane, : one.distinct] for lane, one in enumerate(sums)])
        if len(sums) > 1 and len(rows):
            rows, gradient = sum_rows(rows, gradient)
        return BatchGradient(sum(one.loss for one in sums), sum(one.correct for one in sums), flat, rows, gradient)


class Task(Protocol):
    """What is lost on a batch; see :class:`nlptx.training.trainer.Trainer`."""

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Microbatch], int]: ...

    def objective(
        self, microbatch: Microbatch, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]: ...

    def seed(self, step: int) -> np.random.SeedSequence: ...


@contextmanager
def batch_gradients(
    task: Task, lanes: Accumulators, processes: bool
) -> Iterator[Callable[[NDArray[np.int64], int], tuple[BatchGradient, int, int]]]:
    """Yield a function from examples (B,) and a step, from 0, to the gradient of the batch that they are.

    It also returns what the loss of the batch is the mean of, and its tokens.

    Args:
        task: what is lost. Helpers may be processes, so weights must be in memory that they see.
        lanes: room for the gradients, and how many members share the work.
        processes: see :func:`nlptx.runtime.crew.crew`.
    """

    def part(batch: tuple[list[int], int], member: int) -> tuple[dict[int, AccumulatorTotals], int, int]:
        chosen, step = batch
        microbatches, count = task.cut(np.array(chosen), step)
        seeds = task.seed(step).spawn(len(microbatches))
        sums = lanes.fill(member, microbatches, seeds, partial(task.objective, count=count))
        return sums, count, sum(len(microbatch.ids) for microbatch in microbatches)

    with crew(part, lanes.members, processes=processes) as together:

        def gradient(chosen: NDArray[np.int64], step: int) -> tuple[BatchGradient, int, int]:
            parts = together((chosen.tolist(), step))  # plain numbers: what is pickled names no class of NumPy
            _, count, tokens = parts[0]
            return lanes.total([sums for sums, _, _ in parts]), count, tokens

        yield gradient


def clip(result: BatchGradient, most: float) -> float:
    """Scale the gradients in place so that their common norm is at most ``most`` (0: any); return the norm."""
    norm = float(np.sqrt(np.dot(result.flat, result.flat) + np.vdot(result.row_gradient, result.row_gradient)))
    if most and norm > most:
        result.flat[...] *= most / norm
        result.row_gradient[...] *= most / norm
    return norm
