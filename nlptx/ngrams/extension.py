"""Adds words and n-grams to the n-gram features of a trained model, and maps their outputs to other labels.

Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.features import NgramFeatures


def with_words(known: NgramFeatures, words: int) -> NgramFeatures:
    """Return the same features for a vocabulary to which new words were appended, so that it has ``words`` words."""
    return replace(known, words=words, keys=keys_with_words(known.keys, known.order, known.words, words))


def keys_with_words(keys: NDArray[np.int64], order: int, before: int, words: int) -> NDArray[np.int64]:
    """Return the keys (G,) of the same n-grams, in the same order, after new words were appended to a vocabulary.

    With a vocabulary of V words, a key is a number in base V + 2 whose digits are word ids + 1, or V + 1 for the start
    of a text; see :func:`nlptx.ngrams.naive_bayes.ngram_keys`. The start of a text has the largest digit both before
    and after the change, so sorted keys remain sorted.

    Args:
        keys: the keys.
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


def with_outputs(known: NgramFeatures, maps: list[NDArray]) -> NgramFeatures:
    """Return the same features, but with the outputs of linear model m multiplied by ``maps[m]``.

    Args:
        known: features to change; their ratios stay the same.
        maps: one (E, E') matrix per linear model.
    """
    biases = np.split(known.bias, len(maps))
    return replace(
        known,
        slopes=(known.slopes @ maps[0]).astype(np.float32),
        latent=None if known.latent is None else (known.latent @ maps[1]).astype(np.float32),
        bias=np.concatenate([bias @ map_ for bias, map_ in zip(biases, maps, strict=True)]).astype(np.float32),
    )


def with_ngrams(known: NgramFeatures, keys: NDArray[np.int64], products: NDArray[np.float32]) -> NgramFeatures:
    """Return features with ``products`` (G', E) added to the weights of n-grams in the first linear model.

    New n-grams have the ratio 0, and the second linear model ignores them.

    Args:
        known: features to extend.
        keys: (G',) sorted keys of the n-grams to which the products belong.
        products: (G', E) numbers to add to the weights.
    """
    every = np.union1d(known.keys, keys)
    old, new = np.searchsorted(every, known.keys), np.searchsorted(every, keys)

    def spread(values: NDArray[np.float32]) -> NDArray[np.float32]:
        result = np.zeros((len(every), *values.shape[1:]), np.float32)
        result[old] = values
        return result

    extended = replace(_each_array(known, spread), keys=every)
    extended.slopes[new] += products
    return extended


def _each_array(known: NgramFeatures, change: Callable[[NDArray[np.float32]], NDArray[np.float32]]) -> NgramFeatures:
    """Apply the same change to all arrays with one row per n-gram, except the keys, and return the new features."""

    def changed(values: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        return None if values is None else change(values)

    return replace(
        known,
        ratios=change(known.ratios),
        slopes=change(known.slopes),
        latent=changed(known.latent),
        importance=changed(known.importance),
    )
