"""Computes the n-gram features of a text with each of its words left out in turn, in time linear in the text length.

Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.features import NgramFeatures


class FeaturesWithoutEach(NamedTuple):
    """The n-grams and the text features of a text of T words, computed with each of its words left out in turn.

    Args:
        next_ngrams: (T, order - 1, order) indices of n-grams. For each left-out word (first axis) and each of the
            order - 1 words after it (second axis), the array contains the n-grams of 1 to ``order`` words (third axis)
            that end at the later word once the left-out word is removed; see :meth:`NgramFeatures.find`.
        text_features: (T, M E) float32 outputs of the M linear models.
    """

    next_ngrams: NDArray[np.int64]
    text_features: NDArray[np.float32]


def features_without_each(
    features: NgramFeatures, ids: NDArray[np.integer], ngram_indices: NDArray[np.integer]
) -> FeaturesWithoutEach:
    """Return the n-gram features that a text would have if each of its words in turn were left out.

    The linear models use only whether an n-gram occurs, not how often, so leaving out one of several occurrences would
    change nothing. Therefore, if an n-gram occurs m times, each occurrence counts for 1/m of the weight of the n-gram.

    Args:
        features: the n-gram features of the model.
        ids: (T,) word ids of the text, at least two.
        ngram_indices: (T, order) indices of the n-grams of the text, from :meth:`NgramFeatures.find`.
    """
    next_ngrams = _next_ngrams(features, ids)
    word, ngram, change = _changes(features, ngram_indices, next_ngrams)
    _, present = features.distinct(ngram_indices, [len(ids)])

    used, indices_in_used = np.unique(np.concatenate([present, ngram]), return_inverse=True)
    present, ngram = np.split(indices_in_used, [len(present)])

    def sums(values: NDArray) -> NDArray[np.float64]:
        complete = values[present].sum(dtype=np.float64)
        return np.asarray(complete + np.bincount(word, change * values[ngram], len(ids)))

    outputs = [sums(column) / np.sqrt(len(ids) - 1) for column in features.slopes_of(used).T]
    if features.lsa_weights is not None and features.importance is not None:
        squared = sums(np.square(features.importance[used], dtype=np.float64))
        # If no important n-gram is left, the difference may be a rounding error instead of 0.
        norms = np.sqrt(np.where(squared > 1e-9, squared, 1))
        outputs += [sums(column) / norms for column in features.lsa_weights[used].T]
    return FeaturesWithoutEach(next_ngrams, (features.bias + np.stack(outputs, axis=1)).astype(np.float32))


def _next_ngrams(features: NgramFeatures, ids: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return ``next_ngrams`` of :class:`FeaturesWithoutEach`, (T, order - 1, order)."""
    reach = features.order - 1
    offsets = np.concatenate([np.arange(-reach, 0), np.arange(1, reach + 1)])
    positions = np.arange(len(ids))[:, None] + offsets  # (T, 2 reach)
    inside = (positions >= 0) & (positions < len(ids))
    # The n-grams to find begin at most `reach` words before the left-out word and end at most `reach` words after it.
    # All of these n-grams are therefore in the passage that consists of the `reach` words before the left-out word and
    # the `reach` words after it.
    passages = features.find(ids[positions[inside]], inside.sum(axis=1))
    result = np.full((*inside.shape, features.order), len(features.keys), np.int64)
    result[inside] = passages
    return result[:, reach:]


def _changes(
    features: NgramFeatures, ngram_indices: NDArray[np.integer], next_ngrams: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return which n-grams appear or disappear when a word is left out.

    Returns:
        Three arrays with one entry per pair of a left-out word and an n-gram: the index of the word, the index of the
        n-gram, and the change in the presence of the n-gram, from -1 (it disappears) to 1 (it appears). The change is a
        fraction if only some of the occurrences of the n-gram disappear.
    """
    known, length = len(features.keys), len(ngram_indices)
    words, ngrams, steps = [], [], []
    for distance in range(features.order):
        for size in range(distance + 1, features.order + 1):
            # The n-gram of `size` words that ends `distance` words after the left-out word includes that word. Leaving
            # out the word therefore removes this occurrence of the n-gram.
            words.append(np.arange(length - distance))
            ngrams.append(ngram_indices[distance:, size - 1].astype(np.int64))
            steps.append(np.full(length - distance, -1))
            if distance:  # after the word is left out, another n-gram of this size ends at the same position
                words.append(np.arange(length))
                ngrams.append(next_ngrams[:, distance - 1, size - 1])
                steps.append(np.ones(length, np.int64))
    word, ngram, step = np.concatenate(words), np.concatenate(ngrams), np.concatenate(steps)
    kept = ngram < known
    pairs, number = np.unique(word[kept] * known + ngram[kept], return_inverse=True)
    net = np.bincount(number, step[kept], len(pairs))  # change in the number of occurrences
    word, ngram = np.divmod(pairs, max(known, 1))
    distinct, occurrences = np.unique(np.append(ngram_indices[ngram_indices < known], known), return_counts=True)
    index = np.searchsorted(distinct, ngram)
    before = np.where(distinct[index] == ngram, occurrences[index], 0)
    return word, ngram, np.where(before > 0, np.minimum(net, 0) / np.maximum(before, 1), net > 0)
