"""Computes the log-count ratios of word n-grams.

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

import numpy as np
from numpy.typing import NDArray

# Smoothing: number of texts that are added to the count of every n-gram. This number is divided among the classes
# according to their shares.
_PSEUDO_COUNT = 2.0


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
