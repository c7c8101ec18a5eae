"""Dealing labelled texts into parts that know little of each other.

Neighbours in a corpus are often related: reviews of one film, messages of one day. If one learns from the other, it
looks better on it than on anything new. So texts are dealt in runs of neighbours; those held out, where every label
is to have its share, in runs of neighbours of one label.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Longest run, and how many of them a part should have at least.
_LONGEST_RUN = 100
_RUNS_PER_PART = 10


def stratified_split(
    targets: NDArray[np.int64], share: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the training and of the validation part, each class shared out alike.

    A class gives round(share n) of its n texts, but never its last one to validation.

    Args:
        targets: (texts,) class of each.
        share: held out, from 0 to 1.
        rng: decides which.
    """
    held_out = np.zeros(len(targets), bool)
    for label in np.unique(targets):
        members = np.flatnonzero(targets == label)
        count = min(round(share * len(members)), len(members) - 1)
        order = np.argsort(_shuffled_runs(len(members), share, rng), kind="stable")
        held_out[members[order[:count]]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def assign_folds(count: int, parts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the part of each of ``count`` texts, (count,) from 0; the parts are about equally large.

    Labels play no part: they would decide what a text is judged by, and no text may learn of its own label.
    """
    return _shuffled_runs(count, 1 / parts, rng) % parts


def _shuffled_runs(count: int, share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return for each of ``count`` texts the place of its run among all runs, shuffled.

    Args:
        count: texts, in order.
        share: of them that a part gets; the smaller, the shorter the runs.
        rng: shuffles.
    """
    length = int(np.clip(share * count / _RUNS_PER_PART, 1, _LONGEST_RUN))
    run = np.arange(count) // length
    return rng.permutation(run[-1] + 1)[run] if count else run
