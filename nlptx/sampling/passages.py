"""Passages of long texts, to be learned as texts of their own, so that a model of reviews knows sentences too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Words of a passage; and of the shortest text that passages are taken from.
SHORTEST, LONGEST = 10, 40
LONG_TEXT = 100


class Passage(NamedTuple):
    """Some words in a row of a text.

    Args:
        text: which one.
        ids: (T,) its word ids.
    """

    text: int
    ids: NDArray[np.int32]


def draw_passages(texts: Sequence[NDArray[np.int32]], count: int, rng: np.random.Generator) -> list[Passage]:
    """Return ``count`` passages of each long text, of a random length and from a random place.

    Args:
        texts: (T,) word ids of each.
        count: passages of each.
        rng: decides which.
    """
    result = []
    for text, ids in enumerate(texts):
        if len(ids) < LONG_TEXT:
            continue
        for length in rng.integers(SHORTEST, LONGEST + 1, count).tolist():
            start = int(rng.integers(len(ids) - length + 1))
            result.append(Passage(text, ids[start : start + length]))
    return result
