"""A validation part held out of the training data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


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
        members = rng.permutation(np.flatnonzero(targets == label))
        held_out[members[: min(round(share * len(members)), len(members) - 1)]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)
