"""Word n-grams as integers, and their log-count ratios.

For an n-gram found in n_c training texts of class c, and in n_r of the rest, the log-count ratio is

    r = log((n_c + 1) / sum (n_c + 1)) - log((n_r + 1) / sum (n_r + 1)),

the sums going over all n-grams (Wang & Manning 2012, "Baselines and Bigrams").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Keys are products of word ids, so this keeps a trigram's below 2^63.
LARGEST_VOCABULARY = 2_000_000


def ngram_keys(ids: NDArray[np.integer], order: int, words: int) -> NDArray[np.int64]:
    """Return (T, order) int64: in column n - 1 the key of the n-gram that ends at each place; -1 where none does.

    The start of the text counts as a word, so that "what" at the start differs from "what" within.

    Args:
        ids: (T,) word ids of a text.
        order: longest n-gram.
        words: V. Keys of different n do not collide: an n-gram is a number of n digits, each from 1 to V + 1.
    """
    digits = np.concatenate([[words + 1], ids.astype(np.int64) + 1])
    keys = np.full((len(ids), order), -1, np.int64)
    key = np.zeros(len(digits) + 1, np.int64)
    for n in range(1, min(order, len(digits)) + 1):
        # The n - 1 words before, moved one digit up, and the word here.
        key = key[:-1] * (words + 2) + digits[n - 1 :]
        ends = key[1:] if n == 1 else key
        keys[len(ids) - len(ends) :, n - 1] = ends
    return keys


def find(keys: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each key among the sorted ``known``; ``len(known)`` for those not there."""
    if not len(known):
        return np.zeros(keys.shape, np.int64)
    place = np.searchsorted(known, keys)
    there = known[np.minimum(place, len(known) - 1)] == keys
    return np.where(there, place, len(known))


def evidence_width(classes: int) -> int:
    """Return E, the ratios per n-gram: 1 for two classes (the second against the first), else one a class."""
    return 1 if classes == 2 else classes


def log_count_ratios(counts: NDArray[np.integer], min_texts: int) -> NDArray[np.float32]:
    """Turn the number of texts with each n-gram, by class (G, C), into log-count ratios (G, E).

    N-grams now in fewer than ``min_texts`` texts get 0, as if they had never been seen.
    """
    with_class = counts[:, 1:] if counts.shape[1] == 2 else counts
    rest = counts.sum(axis=1, keepdims=True) - with_class
    p, q = with_class + 1.0, rest + 1.0
    ratios = np.log(p / p.sum(axis=0)) - np.log(q / q.sum(axis=0))
    ratios[counts.sum(axis=1) < min_texts] = 0
    return ratios.astype(np.float32)
