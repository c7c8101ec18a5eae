"""Encodes word n-grams as integers, their keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Maximum vocabulary size V, chosen so that trigram keys, which have three digits in base V + 2, are below 2^63.
MAX_VOCABULARY = 2_000_000


def ngram_keys(
    ids: NDArray[np.integer], order: int, words: int, lengths: Sequence[int] | NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Return the keys (N, order) of the n-grams that end at each word; column n - 1 is for n-grams of n words.

    The start of a text counts as a word, so the first word of a text also ends a bigram. If an n-gram would begin
    before the start of its text, its key is -1.

    Args:
        ids: (N,) word ids of the texts, concatenated.
        order: length of the longest n-gram.
        words: vocabulary size V. The key of an n-gram of n words has n digits from 1 to V + 1, so keys of n-grams of
            different lengths do not collide.
        lengths: (B,) number of words in each text; by default there is only one text.
    """
    counts = np.array([len(ids)] if lengths is None else lengths, np.int64)
    starts = np.cumsum(counts) - counts
    digits = np.insert(ids.astype(np.int64) + 1, starts, words + 1)
    positions = np.arange(len(ids)) + np.repeat(np.arange(len(counts)), counts) + 1  # index of each word in `digits`
    # Number of entries of `digits` that precede each word and belong to the same text.
    before = np.arange(len(ids)) - np.repeat(starts, counts) + 1
    keys = np.empty((len(ids), order), np.int64)
    key = np.zeros(len(ids), np.int64)
    for n in range(1, order + 1):
        # Prepend the digit of the word that is n - 1 positions earlier.
        key += digits[np.maximum(positions - n + 1, 0)] * (words + 2) ** (n - 1)
        keys[:, n - 1] = np.where(before >= n - 1, key, -1)
    return keys


def keys_with_words(keys: NDArray[np.int64], order: int, before: int, words: int) -> NDArray[np.int64]:
    """Return the keys (G,) of the same n-grams, in the same order, after new words were appended to a vocabulary.

    With a vocabulary of V words, a key is a number in base V + 2. Each digit is a word id + 1, or V + 1 for the start
    of a text; see :func:`ngram_keys`. The start of a text has the largest digit both before and after the change, so
    sorted keys remain sorted.

    Args:
        keys: keys of the n-grams, before the vocabulary was extended.
        order: length of the longest n-gram.
        before: number of words in the vocabulary before the change.
        words: number of words in the vocabulary after the change.
    """
    result, left, value = np.zeros_like(keys), keys.copy(), 1
    for _ in range(order):
        left, digit = np.divmod(left, before + 2)
        result += np.where(digit == before + 1, words + 1, digit) * value
        value *= words + 2
    return result
