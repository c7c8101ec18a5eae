"""Splits of labelled texts into parts that reveal little about each other.

Neighbours in a corpus are often related: reviews of one film, messages of one day. A model that was trained on one of
them looks better on the other than on anything new. So whole runs of neighbouring texts go to one part. The validation
part takes runs of neighbours with the same label, so that every label is represented.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Maximum length of a run, and the minimum number of runs in a part.
_LONGEST_RUN = 100
_RUNS_PER_PART = 10


def stratified_split(
    targets: NDArray[np.int64], share: float, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the training part and of the validation part, stratified by class.

    A class with n texts gives round(share n) of them to validation, but never its last one.

    Args:
        targets: (texts,) class of each text.
        share: fraction to hold out, from 0 to 1.
        rng: source of randomness.
    """
    held_out = np.zeros(len(targets), bool)
    for label in np.unique(targets):
        members = np.flatnonzero(targets == label)
        count = min(round(share * len(members)), len(members) - 1)
        order = np.argsort(_shuffled_runs(len(members), share, rng), kind="stable")
        held_out[members[order[:count]]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def assign_folds(count: int, parts: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each of ``count`` texts: (count,) integers from 0. Folds are about equally large.

    Labels are ignored on purpose: if they decided the fold, a text could learn something about its own label.
    """
    return _shuffled_runs(count, 1 / parts, rng) % parts


def _shuffled_runs(count: int, share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return for each of ``count`` texts the position of its run after shuffling the runs.

    Args:
        count: number of texts, in order.
        share: fraction of the texts in one part; the smaller it is, the shorter the runs.
        rng: source of randomness.
    """
    length = int(np.clip(share * count / _RUNS_PER_PART, 1, _LONGEST_RUN))
    run = np.arange(count) // length
    return rng.permutation(run[-1] + 1)[run] if count else run
