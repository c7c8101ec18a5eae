"""One optimisation step: loss and gradients of a batch on all cores, clipped, applied."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.nn import Gradients
from nlptx.training.batches import Share


@dataclass(frozen=True)
class ShareResult:
    """Loss and gradients of a share.

    Args:
        loss: summed over its texts (or words, in pre-training).
        correct: how many it got right.
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
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.add.reduceat(gradient[order], starts, axis=0)


def batch_gradient(
    shares: list[Share],
    objective: Objective,
    size: int,
    dtype: np.dtype,
    frozen: bool,
    seeds: list[np.random.SeedSequence],
    pool: Executor,
) -> ShareResult:
    """Return loss and gradients summed over shares, in their order.

    Args:
        shares: of the batch.
        objective: returns the loss, hits and word-vector gradient of a share; adds into the gradients given.
        size: P.
        dtype: of the gradients.
        frozen: whether the word vectors stay as they are.
        seeds: one a share, for dropout.
        pool: threads.
    """

    def work(share: Share, seed: np.random.SeedSequence) -> ShareResult:
        flat = np.zeros(size, dtype)
        # An overflow shows in the loss or the norm, which the loop checks.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            loss, correct, dx = objective(share, Gradients(flat), np.random.Generator(np.random.SFC64(seed)))
        if frozen:
            return ShareResult(loss, correct, flat, share.ids[:0], dx[:0])
        return ShareResult(loss, correct, flat, *sum_rows(share.ids, dx))

    results = list(pool.map(work, shares, seeds)) if len(shares) > 1 else [work(shares[0], seeds[0])]
    first = results[0]
    if len(results) == 1:
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
