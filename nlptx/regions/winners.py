"""Finds the strongest region of each text for each filter, and computes the gradients that reach only these regions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class WordGradient(NamedTuple):
    """The nonzero derivatives of the loss with respect to the word weights.

    Args:
        places: (K,) distinct indices in the flattened word weights (W F,).
        values: (K,) derivatives.
    """

    places: NDArray[np.int64]
    values: NDArray


def strongest(t: NDArray, lengths: NDArray[np.integer]) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the largest response of each filter to each text, (B, F), and the first row of ``t`` (N, F) with it."""
    maxima = np.empty((len(lengths), t.shape[1]), t.dtype)
    winners = np.empty(maxima.shape, np.int64)
    start = 0
    for text, length in enumerate(lengths.tolist()):
        responses = t[start : start + length]
        responses.max(axis=0, out=maxima[text])
        row, column = np.divmod(np.flatnonzero(responses == maxima[text]), t.shape[1])
        winners[text, column[::-1]] = start + row[::-1]  # in a tie, the first is assigned last, so it wins
        start += length
    return maxima, winners


def vector_gradient(dm: NDArray, winners: NDArray[np.int64], vectors: NDArray) -> NDArray:
    """Return dq (R, F): the sum over the texts of the winning region's vector times dm.

    Args:
        dm: (B, F) derivative of the loss with respect to the largest responses.
        winners: (B, F) winning rows of ``vectors``.
        vectors: (N, R) vectors of the regions.
    """
    result = np.zeros((dm.shape[1], vectors.shape[1]), vectors.dtype)
    for of_text, rows in zip(dm, winners, strict=True):
        result += of_text[:, None] * vectors[rows]
    return result.T


def word_gradient(dm: NDArray, winners: NDArray[np.int64], bags: NDArray[np.int32], words: int) -> WordGradient:
    """Return dw: the sum of dm over the occurrences of each word in the winning bags.

    Args:
        dm: (B, F) derivative of the loss with respect to the largest responses.
        winners: (B, F) winning rows of ``bags``.
        bags: (N, BAG) words of the bags; ``words`` or more for unknown words.
        words: number of known words.
    """
    text, column = np.nonzero(dm)
    entries = bags[winners[text, column]]
    known = entries < words
    counts = known.sum(axis=1)
    places = entries[known].astype(np.int64) * dm.shape[1] + np.repeat(column, counts)
    values = np.repeat(dm[text, column], counts)
    order = np.argsort(places, kind="stable")
    places, values = places[order], values[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    return WordGradient(places[first], np.add.reduceat(values, first) if len(first) else values)
