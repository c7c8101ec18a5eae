"""The importance of n-grams, which is the entry of an n-gram in the rows of texts; see :mod:`nlptx.ngrams.lsa`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

# With at least this many texts, the LSA components are computed less accurately, and frequent n-grams are left out.
# Both save time and change little.
MANY_TEXTS = 10_000
# With many texts, n-grams whose importance is less than this fraction of the largest importance are left out. These are
# the most frequent n-grams. They account for a quarter of the entries of X, but leaving them out hardly changes the
# rows. From long texts, more n-grams can be left out than from short texts, so the fraction for long texts is larger.
# (:mod:`.out_of_core` uses the smaller fraction for all texts.) With few texts, no n-grams are left out, because almost
# all n-grams may be frequent.
_MIN_IMPORTANCE, _MIN_IMPORTANCE_IN_LONG = 0.1, 0.2


def importance(text_counts: NDArray, texts: float, min_texts: int, *, long: bool = False) -> NDArray[np.float32]:
    """Return the importance (G,) of each n-gram; 0 for n-grams in fewer than ``min_texts`` texts.

    With many texts, the importance is also 0 for very frequent n-grams: those in more than about a thirteenth of the
    texts or, if the texts are long, in more than about a fortieth of them.

    Args:
        text_counts: (G,) number of texts that contain each n-gram, or the sum of their weights.
        texts: N, the total number of texts, or the sum of their weights.
        min_texts: minimum number of texts that must contain an n-gram.
        long: whether the texts are long, so that more of the frequent n-grams can be left out.
    """
    weights = np.where(text_counts >= min_texts, np.log((texts + 1) / np.maximum(text_counts, 1)) ** 2, 0)
    if texts >= MANY_TEXTS:
        fraction = _MIN_IMPORTANCE_IN_LONG if long else _MIN_IMPORTANCE
        weights[weights < fraction * weights.max(initial=0)] = 0
    return weights.astype(np.float32)


def unit_norm(weights: NDArray[np.float32]) -> Callable[[NDArray, NDArray], NDArray[np.float32]]:
    """Return a function that computes the entries of a matrix whose rows have unit norm.

    The function is the argument ``values`` of :func:`.occurrences.presence_matrix`.

    Args:
        weights: (G,) importance of each n-gram, above 0.
    """

    def values(columns: NDArray, counts: NDArray) -> NDArray[np.float32]:
        data = weights[columns]
        # Texts without n-grams are left out here: they have no entries, and `reduceat` would not return 0 for them.
        some = counts[counts > 0]
        lengths = np.sqrt(np.add.reduceat(data * data, np.cumsum(some) - some)) if len(some) else np.ones(0)
        return (data / np.repeat(lengths, some)).astype(np.float32)

    return values
