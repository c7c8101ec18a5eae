"""Finds the strongest region of each text for each filter, and computes the gradients of only these regions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class WordGradient(NamedTuple):
    """The nonzero derivatives of the loss with respect to the word weights.

    Args:
        indices: (K,) distinct indices into the flattened word weights (W F,).
        values: (K,) derivatives with respect to the word weights at ``indices``.
    """

    indices: NDArray[np.int64]
    values: NDArray


# Maximum mean length of the texts, and maximum number of filters, for which it is faster to avoid a loop over the
# texts.
_SHORT, _FEW_FILTERS = 32, 128


def strongest(t: NDArray, lengths: NDArray[np.integer]) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the largest response of each filter to each text, and the first row of ``t`` that has it, both (B, F).

    ``t`` contains the responses of all filters at all positions of the texts, (N, F).
    """
    if len(t) <= _SHORT * len(lengths) and t.shape[1] <= _FEW_FILTERS:
        return _strongest_of_short(t, lengths)
    maxima = np.empty((len(lengths), t.shape[1]), t.dtype)
    winners = np.empty(maxima.shape, np.int64)
    start = 0
    for text, length in enumerate(lengths.tolist()):
        responses = t[start : start + length]
        responses.max(axis=0, out=maxima[text])
        row, column = np.divmod(np.flatnonzero(responses == maxima[text]), t.shape[1])
        # If several rows have the maximum, the first of them is assigned last, so that it is the winner.
        winners[text, column[::-1]] = start + row[::-1]
        start += length
    return maxima, winners


def _strongest_of_short(t: NDArray, lengths: NDArray[np.integer]) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the same as :func:`strongest`, computed without a loop over the texts."""
    starts = np.cumsum(lengths) - lengths
    maxima = np.maximum.reduceat(t, starts, axis=0)
    row = np.arange(len(t), dtype=np.int32)[:, None]
    rows = np.where(t == np.repeat(maxima, lengths, axis=0), row, np.int32(len(t)))
    return maxima, np.minimum.reduceat(rows, starts, axis=0).astype(np.int64)


def vector_gradient(dm: NDArray, winners: NDArray[np.int64], vectors: NDArray) -> NDArray:
    """Return dq (R, F): for each filter, the sum over the texts of dm times the vector of the winning region.

    Args:
        dm: (B, F) derivative of the loss with respect to the largest responses.
        winners: (B, F) row of the winning region in ``vectors``.
        vectors: (N, R) vectors of the regions.
    """
    result = np.zeros((dm.shape[1], vectors.shape[1]), vectors.dtype)
    for of_text, rows in zip(dm, winners, strict=True):
        result += of_text[:, None] * vectors[rows]
    return result.T


def word_gradient(dm: NDArray, winners: NDArray[np.int64], bags: NDArray[np.int32], words: int) -> WordGradient:
    """Return dw: for each word and filter, the sum of dm over the occurrences of the word in the winning bags.

    Args:
        dm: (B, F) derivative of the loss with respect to the largest responses.
        winners: (B, F) row of the winning region in ``bags``.
        bags: (N, BAG) indices of the words in the bag at each position; the indices of unknown words are not below
            ``words``.
        words: number of known words.
    """
    text, column = np.nonzero(dm)
    entries = bags[winners[text, column]]
    known = entries < words
    counts = known.sum(axis=1)
    indices = entries[known].astype(np.int64) * dm.shape[1] + np.repeat(column, counts)
    values = np.repeat(dm[text, column], counts)
    order = np.argsort(indices, kind="stable")
    indices, values = indices[order], values[order]
    first = np.flatnonzero(np.diff(indices, prepend=-1))
    return WordGradient(indices[first], np.add.reduceat(values, first) if len(first) else values)
