"""Draws training passages from long texts, so that a model trained on reviews also handles individual sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Minimum and maximum length of a passage, in words.
MIN_WORDS, MAX_WORDS = 10, 40
# Minimum number of words in a text from which passages are taken.
LONG_TEXT = 100


class Passage(NamedTuple):
    """Consecutive words of a text.

    Args:
        text: index of the text.
        start: index of the first word of the passage in the text.
        ids: (T,) int32 word ids of the passage.
    """

    text: int
    start: int
    ids: NDArray[np.int32]


def draw_passages(texts: Sequence[NDArray[np.int32]], count: int, rng: np.random.Generator) -> list[Passage]:
    """Draw ``count`` passages of random length from each long text, at random positions.

    Args:
        texts: (T,) int32 word ids of each text.
        count: number of passages per long text.
        rng: source of randomness.
    """
    result = []
    for text, ids in enumerate(texts if count else ()):
        if len(ids) < LONG_TEXT:
            continue
        for length in rng.integers(MIN_WORDS, MAX_WORDS + 1, count).tolist():
            start = int(rng.integers(len(ids) - length + 1))
            result.append(Passage(text, start, ids[start : start + length]))
    return result
