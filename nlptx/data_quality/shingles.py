"""Shingles are pairs of consecutive words in a text. The same special word marks the start and end of every text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.data_quality.words import TextWords
from nlptx.runtime.slices import ranges


def shingles(words: TextWords, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the shingles of the given texts, and the number of shingles in each text.

    A text of T words has T + 1 shingles. A shingle may occur more than once.

    Args:
        words: words of all texts.
        rows: (B,) indices of texts with at least one word.
    """
    base = words.size + 1
    lengths = words.lengths[rows]
    starts = np.cumsum(lengths + 1) - lengths - 1
    left = np.zeros(int(lengths.sum()) + len(rows), np.int64)
    right = np.zeros_like(left)
    ids = words.ids[ranges(words.starts[rows], lengths)].astype(np.int64) + 1
    left[ranges(starts + 1, lengths)] = ids
    right[ranges(starts, lengths)] = ids
    return left * base + right, lengths + 1


def distinct_shingles(
    words: TextWords, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct shingles of the given texts, sorted within each text.

    Args:
        words: words of all texts.
        rows: (B,) indices of texts with at least one word.

    Returns:
        The shingles (S,), the position of each shingle's text in ``rows`` (S,), and the number of distinct shingles in
        each text (B,).
    """
    keys, counts = shingles(words, rows)
    text = np.repeat(np.arange(len(rows)), counts)
    order = np.lexsort((keys, text))
    keys, text = keys[order], text[order]
    new = np.ones(len(keys), bool)
    new[1:] = (keys[1:] != keys[:-1]) | (text[1:] != text[:-1])
    return keys[new], text[new], np.bincount(text[new], minlength=len(rows))
