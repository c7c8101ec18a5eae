"""Stores texts in one array with gaps between them, so that a window around a word never extends into another text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def with_gaps(
    values: NDArray[Any], lengths: NDArray[np.integer], gap: int, fill: Any
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Insert ``gap`` entries before every text and after the last one.

    Args:
        values: (N, ...) one entry per word of the texts.
        lengths: (B,) number of words in each text.
        gap: number of entries in each gap.
        fill: value of the inserted entries.

    Returns:
        The array with gaps, and the index (N,) of each word's entry in this array.
    """
    positions = np.arange(len(values)) + gap * np.repeat(np.arange(1, len(lengths) + 1), lengths)
    spaced = np.full((len(values) + gap * (len(lengths) + 1), *values.shape[1:]), fill, values.dtype)
    spaced[positions] = values
    return spaced, positions


def in_groups(texts: Sequence[NDArray[np.integer]], words: int) -> Iterator[list[NDArray[np.integer]]]:
    """Yield groups of texts; each except the last has at least ``words`` words. Texts without words are skipped."""
    group: list[NDArray[np.integer]] = []
    size = 0
    for ids in texts:
        if not len(ids):
            continue
        group.append(ids)
        size += len(ids)
        if size >= words:
            yield group
            group, size = [], 0
    if group:
        yield group
