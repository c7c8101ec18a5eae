"""Encodes word n-grams as integers, and computes their log-count ratios.

If an n-gram occurs in n_c training texts of class c and in n_r texts of the other classes, its log-count ratio is

    r = log((n_c + 2 s_c) / sum (n_c + 2 s_c)) - log((n_r + 2 s_r) / sum (n_r + 2 s_r))
      = log(n_c / s_c + 2) - log(n_r / s_r + 2)

where all sums are over all n-grams, s_c = sum n_c / sum (n_c + n_r) is the share of class c in the counts of all
n-grams, and s_r = 1 - s_c. If there are two classes with equal shares, this is the ratio of Wang & Manning 2012,
"Baselines and Bigrams", which adds 1 to both counts. Call an n-gram neutral if its counts are distributed over the
classes like the counts of all n-grams together. With the formula above, the ratio of a neutral n-gram is 0, whatever
the shares are. If n_c and n_r were both increased by the same number instead, the ratio of a neutral n-gram for a rare
class would not be 0, and would grow with the number of distinct n-grams. N-grams that occur in no labelled text do not
affect the ratios of other n-grams.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Maximum vocabulary size V, chosen so that trigram keys, which have three digits in base V + 2, are below 2^63.
MAX_VOCABULARY = 2_000_000
# Smoothing: number of texts that are added to the count of every n-gram. This number is divided among the classes
# according to their shares.
_PSEUDO_COUNT = 2.0


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


def feature_width(classes: int, independent: bool = False) -> int:
    """Return E, the number of ratios per n-gram: 1 for two classes (second versus first), otherwise one per class.

    In multi-label classification (``independent``), there is one ratio per class even for two classes.
    """
    return 1 if classes == 2 and not independent else classes


def log_count_ratios(counts: NDArray, min_texts: int, text_counts: NDArray | None = None) -> NDArray[np.float32]:
    """Return the log-count ratios (G, E) of n-grams.

    N-grams in fewer than ``min_texts`` texts have the ratio 0 and are not included in the sums over all n-grams. If a
    class has all of the counts, or none, its ratios are 0.

    Args:
        counts: (G, C) number of texts of each class that contain each n-gram, or the sum of their weights.
        min_texts: minimum number of texts in which an n-gram must occur.
        text_counts: (G,) number of texts that contain each n-gram, if a text may have any number of classes; otherwise
            None.
    """
    frequent = (counts.sum(axis=1) if text_counts is None else text_counts) >= min_texts
    counts = counts[frequent]
    if text_counts is None:
        in_class = counts[:, 1:] if counts.shape[1] == 2 else counts
        rest, total = counts.sum(axis=1, keepdims=True) - in_class, counts.sum()
    else:
        in_class, total = counts, text_counts[frequent].sum()
        rest = text_counts[frequent, None] - in_class
    share = in_class.sum(axis=0) / (total or 1)
    defined = (share > 0) & (share < 1)
    ratios = np.zeros((len(frequent), len(share)), np.float32)
    ratios[np.ix_(frequent, defined)] = count_ratios(in_class[:, defined], rest[:, defined], share[defined])
    return ratios


def count_ratios(in_class: NDArray, rest: NDArray, share: NDArray | float) -> NDArray[np.float64]:
    """Return log(n_c / s_c + 2) - log(n_r / s_r + 2) for counts n_c and n_r, and a share s_c between 0 and 1."""
    return np.log(in_class / share + _PSEUDO_COUNT) - np.log(rest / (1 - share) + _PSEUDO_COUNT)
