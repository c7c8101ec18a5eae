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
from nlptx.runtime.radix_sort import order_of
from nlptx.runtime.shared_memory import shared_empty
from nlptx.training.batching import LANES, Share


@dataclass(frozen=True)
class LaneSums:
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
        loss, correct: as of :class:`LaneSums`.
        flat: (P,) gradient of the parameters.
        rows, row_gradient: (U,) distinct words and (U, R) gradient of their vectors; empty if frozen.
    """

    loss: float
    correct: int
    flat: NDArray
    rows: NDArray[np.int32]
    row_gradient: NDArray


# Of a share: summed loss, hits and gradient of its word vectors (N, R); those of parameters are added to Gradients.
Objective = Callable[[Share, Gradients, np.random.Generator], tuple[float, int, NDArray]]


def sum_rows(ids: NDArray[np.int32], gradient: NDArray) -> tuple[NDArray[np.int32], NDArray]:
    """Sum the rows of ``gradient`` (N, R) that belong to the same id: distinct ids (U,) and sums (U, R)."""
    count = len(ids)
    order = order_of(ids).astype(np.int32)
    ordered = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    # A product with a matrix of ones and zeros; np.add.reduceat takes twenty times as long.
    ends = np.append(starts, count).astype(np.int32)
    ones = np.ones(count, gradient.dtype)
    return ordered[starts], sp.csr_matrix((ones, order, ends), shape=(len(starts), count)) @ gradient


class Lanes:
    """The gradients of a batch, lane by lane.

    Every LANES-th share belongs to one lane, and every so many lanes to one member of the crew, who works on share
    after share, so that each finds the caches and the memory of the one before. All shares of a lane add into one
    gradient, in memory that all members see; then the lanes are summed in their order.

    Args:
        members: of the crew.
        size: P, parameters.
        most_words: distinct words of a batch, at most; 0 if their vectors are frozen.
        width: R, of the word vectors.
        dtype: of the gradients.
    """

    def __init__(self, members: int, size: int, most_words: int, width: int, dtype: DTypeLike) -> None:
        self.members = members
        self.flat = shared_empty((LANES, size), dtype)
        self.rows = shared_empty((LANES, most_words), np.int32)
        self.row_gradients = shared_empty((LANES, most_words, width), dtype)

    def fill(
        self, member: int, shares: list[Share], seeds: list[np.random.SeedSequence], objective: Objective
    ) -> dict[int, LaneSums]:
        """Form the gradients of a member's lanes, and return what they come to by their numbers.

        Args:
            member: its number, from 0.
            shares: of the whole batch.
            seeds: one a share, for dropout.
            objective: of a share.
        """
        given = list(zip(shares, seeds, strict=True))
        own = range(member, min(LANES, len(shares)), self.members)
        return {lane: self._fill(lane, given[lane::LANES], objective) for lane in own}

    def _fill(self, lane: int, given: list[tuple[Share, np.random.SeedSequence]], objective: Objective) -> LaneSums:
        flat = self.flat[lane]
        flat[...] = 0
        grads = Gradients(flat)
        distinct = 0
        # An overflow shows in the loss or the norm, which the loop checks.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            done = [objective(share, grads, np.random.Generator(np.random.SFC64(seed))) for share, seed in given]
            if self.rows.size:
                ids = np.concatenate([share.ids for share, _ in given])
                rows, gradient = sum_rows(ids, np.concatenate([dx for _, _, dx in done]))
                distinct = len(rows)
                self.rows[lane, :distinct] = rows
                self.row_gradients[lane, :distinct] = gradient
        return LaneSums(sum(loss for loss, _, _ in done), sum(correct for _, correct, _ in done), distinct)

    def total(self, parts: list[dict[int, LaneSums]]) -> BatchGradient:
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
    """What is lost on a batch; see :class:`nlptx.training.trainer.Phase`."""

    def cut(self, chosen: NDArray[np.int64], step: int) -> tuple[list[Share], int]: ...

    def objective(
        self, share: Share, grads: Gradients, rng: np.random.Generator, count: int
    ) -> tuple[float, int, NDArray]: ...

    def seed(self, step: int) -> np.random.SeedSequence: ...


@contextmanager
def batch_gradients(
    task: Task, lanes: Lanes, processes: bool
) -> Iterator[Callable[[NDArray[np.int64], int], tuple[BatchGradient, int, int]]]:
    """Yield a function from examples (B,) and a step, from 0, to the gradient of the batch that they are.

    It also returns what the loss of the batch is the mean of, and its tokens.

    Args:
        task: what is lost. Helpers may be processes, so weights must be in memory that they see.
        lanes: room for the gradients, and how many members share the work.
        processes: see :func:`nlptx.runtime.crew.crew`.
    """

    def part(batch: tuple[list[int], int], member: int) -> tuple[dict[int, LaneSums], int, int]:
        chosen, step = batch
        shares, count = task.cut(np.array(chosen), step)
        seeds = task.seed(step).spawn(len(shares))
        sums = lanes.fill(member, shares, seeds, partial(task.objective, count=count))
        return sums, count, sum(len(share.ids) for share in shares)

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
