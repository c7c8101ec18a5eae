"""Word n-grams as integers, and their log-count ratios.

For an n-gram found in n_c training texts of class c, and in n_r texts of the rest, the log-count ratio is

    r = log((n_c + 2 s_c) / sum (n_c + 2 s_c)) - log((n_r + 2 s_r) / sum (n_r + 2 s_r))
      = log(n_c / s_c + 2) - log(n_r / s_r + 2)

with s_c = sum n_c / sum (n_c + n_r) the share of the class in all counts, and s_r = 1 - s_c. For two classes of equal
share it is the ratio of Wang & Manning 2012, "Baselines and Bigrams", which adds 1 to both counts. Adding the same to
counts of a rare class and to those of all others would pull neutral n-grams away from 0, the further the more n-grams
the sums go over. In this form an n-gram with the shares of all n-grams has the ratio 0 whatever the shares, and
n-grams that no labelled text has change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Keys are products of word ids, so this keeps a trigram's below 2^63.
LARGEST_VOCABULARY = 2_000_000
# Texts added to the counts of every n-gram, divided among the classes by their shares: smoothing.
_PSEUDO_COUNT = 2.0


def ngram_keys(
    ids: NDArray[np.integer], order: int, words: int, lengths: Sequence[int] | NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """Return (N, order) int64: in column n - 1 the key of the n-gram that ends at each place; -1 where none does.

    The start of a text counts as a word, so that "what" at the start differs from "what" within.

    Args:
        ids: (N,) word ids of texts, one after the other.
        order: longest n-gram.
        words: V. Keys of different n do not collide: an n-gram is a number of n digits, each from 1 to V + 1.
        lengths: (B,) words of each text; by default it is one.
    """
    counts = np.array([len(ids)] if lengths is None else lengths, np.int64)
    starts = np.cumsum(counts) - counts
    digits = np.insert(ids.astype(np.int64) + 1, starts, words + 1)
    places = np.arange(len(ids)) + np.repeat(np.arange(len(counts)), counts) + 1  # of each word among the digits
    before = np.arange(len(ids)) - np.repeat(starts, counts) + 1  # digits of its text before it
    keys = np.empty((len(ids), order), np.int64)
    key = np.zeros(len(ids), np.int64)
    for n in range(1, order + 1):
        # One digit more in front: the one n - 1 places back.
        key += digits[np.maximum(places - n + 1, 0)] * (words + 2) ** (n - 1)
        keys[:, n - 1] = np.where(before >= n - 1, key, -1)
    return keys


def find(keys: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each key among the sorted ``known``; ``len(known)`` for those not there."""
    if not len(known):
        return np.zeros(keys.shape, np.int64)
    # In order, or nearly so, the searches walk through ``known`` once, and do not jump about in memory. The first 16
    # bits after the sign of a number in floating point are enough for that.
    heads = keys.astype(np.float32).view(np.uint32).ravel() >> 15
    order = np.argsort(heads.astype(np.uint16), kind="stable")
    place = np.empty(keys.shape, np.int64)
    place.reshape(-1)[order] = np.searchsorted(known, keys.reshape(-1)[order])
    there = known[np.minimum(place, len(known) - 1)] == keys
    return np.where(there, place, len(known))


def feature_width(classes: int) -> int:
    """Return E, the ratios per n-gram: 1 for two classes (the second against the first), else one a class."""
    return 1 if classes == 2 else classes


def log_count_ratios(counts: NDArray[np.integer], min_texts: int) -> NDArray[np.float32]:
    """Turn the number of texts with each n-gram, by class (G, C), into log-count ratios (G, E).

    N-grams in fewer than ``min_texts`` texts get 0 and do not count; so does a class that has all n-grams or none.
    """
    enough = counts.sum(axis=1) >= min_texts
    counts = counts[enough]
    of_class = counts[:, 1:] if counts.shape[1] == 2 else counts
    rest = counts.sum(axis=1, keepdims=True) - of_class
    share = of_class.sum(axis=0) / max(counts.sum(), 1)
    told = (share > 0) & (share < 1)
    ratios = np.zeros((len(enough), len(share)), np.float32)
    ratios[np.ix_(enough, told)] = np.log(of_class[:, told] / share[told] + _PSEUDO_COUNT) - np.log(
        rest[:, told] / (1 - share[told]) + _PSEUDO_COUNT
    )
    return ratios
