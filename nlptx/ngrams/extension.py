"""Adds words and n-grams to the n-gram features of a trained model, and converts its outputs to other labels.

Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.features import NgramFeatures
from nlptx.ngrams.ngram_keys import keys_with_words


def with_words(features: NgramFeatures, words: int) -> NgramFeatures:
    """Return the same features after new words were appended to the vocabulary, which now has ``words`` words."""
    return replace(features, words=words, keys=keys_with_words(features.keys, features.order, features.words, words))


def with_outputs(features: NgramFeatures, maps: list[NDArray]) -> NgramFeatures:
    """Multiply the outputs of linear model m by the matrix ``maps[m]``, for each m, and return the new features.

    Args:
        features: features whose linear models are changed. The ratios of the n-grams stay the same.
        maps: one matrix (E, E') per linear model, where E' is the new number of outputs.
    """
    biases = np.split(features.bias, len(maps))
    return replace(
        features,
        ratio_weights=(features.ratio_weights @ maps[0]).astype(np.float32),
        lsa_weights=None if features.lsa_weights is None else (features.lsa_weights @ maps[1]).astype(np.float32),
        bias=np.concatenate([bias @ map_ for bias, map_ in zip(biases, maps, strict=True)]).astype(np.float32),
    )


def with_ngrams(features: NgramFeatures, keys: NDArray[np.int64], changes: NDArray[np.float32]) -> NgramFeatures:
    """Add ``changes`` to the weights that n-grams have in the ratio model, and return the new features.

    N-grams that are not yet in ``features.keys`` get a log-count ratio of 0, and the LSA model ignores them.

    Args:
        features: features to extend.
        keys: (G',) sorted keys of the n-grams whose weights are changed.
        changes: (G', E) numbers to add to the weights of these n-grams.
    """
    every = np.union1d(features.keys, keys)
    old, new = np.searchsorted(every, features.keys), np.searchsorted(every, keys)

    def spread(values: NDArray[np.float32]) -> NDArray[np.float32]:
        result = np.zeros((len(every), *values.shape[1:]), np.float32)
        result[old] = values
        return result

    extended = replace(_each_array(features, spread), keys=every)
    extended.ratio_weights[new] += changes
    return extended


def _each_array(features: NgramFeatures, change: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> NgramFeatures:
    """Apply the function ``change`` to each array with one row per n-gram, except the keys. Return the new features."""

    def changed(values: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        return None if values is None else change(values)

    return replace(
        features,
        ratios=change(features.ratios),
        ratio_weights=change(features.ratio_weights),
        lsa_weights=changed(features.lsa_weights),
        importance=changed(features.importance),
    )
