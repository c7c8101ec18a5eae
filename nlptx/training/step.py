"""One optimisation step: loss and gradients of a batch on all cores, clipped, applied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from queue import SimpleQueue

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.nn import Gradients, Parameter
from nlptx.training.batches import LANES, Share


@dataclass(frozen=True)
class ShareResult:
    """Loss and gradients of some shares.

    Args:
        loss: summed over their texts (or words, in pre-training).
        correct: how many they got right.
        flat: (P,) gradient of the parameters.
        rows, row_gradient: (U,) distinct words and (U, R) gradient of their vectors; empty if frozen.
    """

    loss: float
    correct: int
    flat: NDArray
    rows: NDArray[np.int32]
    row_gradient: NDArray


Objective = Callable[[Share, Gradients, np.random.Generator], tuple[float, int, NDArray]]


def sum_rows(ids: NDArray[np.int32], gradient: NDArray) -> tuple[NDArray[np.int32], NDArray]:
    """Sum the rows of ``gradient`` (N, R) that belong to the same id: distinct ids (U,) and sums (U, R)."""
    count = len(ids)
    keys = ids.astype(np.int64) << 32 | np.arange(count)  # sorted by id, then by place: one order on all machines
    keys.sort()
    order, ordered = (keys & 0xFFFF_FFFF).astype(np.int32), (keys >> 32).astype(np.int32)
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    # A product with a matrix of ones and zeros; np.add.reduceat takes twenty times as long.
    ends = np.append(starts, count).astype(np.int32)
    ones = np.ones(count, gradient.dtype)
    return ordered[starts], sp.csr_matrix((ones, order, ends), shape=(len(starts), count)) @ gradient


class _GradientsAside(Gradients):
    """Gradients whose matrix products wait for :meth:`multiply`, which another thread may run meanwhile."""

    def __init__(self, flat: NDArray) -> None:
        super().__init__(flat)
        self._waiting: SimpleQueue[tuple[Parameter, NDArray, NDArray] | None] = SimpleQueue()

    def add_product(self, parameter: Parameter, x: NDArray, dy: NDArray) -> None:
        self._waiting.put((parameter, x, dy))

    def close(self) -> None:
        """Say that no product will follow."""
        self._waiting.put(None)

    def multiply(self) -> None:
        """Do the products one after the other, until the last."""
        # NumPy's error state is a thread's own, and that of the pass does not hold here.
        with np.errstate(over="ignore", invalid="ignore"):
            while (product := self._waiting.get()) is not None:
                super().add_product(*product)


@contextmanager
def _gradients(flat: NDArray, spare: Executor | None) -> Iterator[Gradients]:
    """Yield gradients that add to ``flat`` (P,), with the help of a ``spare`` thread if there is one.

    The products of inputs and output gradients, a third of all, are nothing that the backward pass waits for.
    """
    if spare is None:
        yield Gradients(flat)
        return
    aside = _GradientsAside(flat)
    done = spare.submit(aside.multiply)
    try:
        yield aside
    finally:
        aside.close()
        done.result()


def batch_gradient(
    shares: list[Share],
    objective: Objective,
    size: int,
    dtype: np.dtype,
    frozen: bool,
    seeds: list[np.random.SeedSequence],
    pool: Executor,
    spare: Executor | None = None,
) -> ShareResult:
    """Return loss and gradients summed over shares.

    Every LANES-th share belongs to one lane. A lane is what one thread works on: share after share, so that
    each finds the caches and the memory of the one before, all adding into one gradient. Then the lanes are
    summed in their order.

    Args:
        shares: of the batch.
        objective: returns the loss, hits and word-vector gradient of a share; adds into the gradients given.
        size: P.
        dtype: of the gradients.
        frozen: whether the word vectors stay as they are.
        seeds: one a share, for dropout.
        pool: threads.
        spare: threads that help where there is one lane alone, if any.
    """
    lanes = min(LANES, len(shares))

    def work(lane: int) -> ShareResult:
        flat = np.zeros(size, dtype)
        done = []
        # An overflow shows in the loss or the norm, which the loop checks.
        with (
            np.errstate(over="ignore", invalid="ignore", divide="ignore"),
            _gradients(flat, spare if lanes == 1 else None) as grads,
        ):
            for share, seed in zip(shares[lane::LANES], seeds[lane::LANES], strict=True):
                done.append(objective(share, grads, np.random.Generator(np.random.SFC64(seed))))
            # Still within, as the spare thread may have products left.
            rows, row_gradient = shares[0].ids[:0], done[0][2][:0]
            if not frozen:
                ids = np.concatenate([share.ids for share in shares[lane::LANES]])
                rows, row_gradient = sum_rows(ids, np.concatenate([dx for _, _, dx in done]))
        loss, correct = sum(loss for loss, _, _ in done), sum(correct for _, correct, _ in done)
        return ShareResult(loss, correct, flat, rows, row_gradient)

    results = [work(0)] if lanes == 1 else list(pool.map(work, range(lanes)))
    first = results[0]
    if lanes == 1:
        return first
    for result in results[1:]:
        first.flat[...] += result.flat
    rows, row_gradient = first.rows, first.row_gradient
    if not frozen:
        rows, row_gradient = sum_rows(
            np.concatenate([result.rows for result in results]),
            np.concatenate([result.row_gradient for result in results]),
        )
    loss, correct = sum(result.loss for result in results), sum(result.correct for result in results)
    return ShareResult(loss, correct, first.flat, rows, row_gradient)


def clip(result: ShareResult, most: float) -> float:
    """Scale the gradients in place so that their common norm is at most ``most`` (0: any); return the norm."""
    norm = float(np.sqrt(np.dot(result.flat, result.flat) + np.vdot(result.row_gradient, result.row_gradient)))
    if most and norm > most:
        result.flat[...] *= most / norm
        result.row_gradient[...] *= most / norm
    return norm
