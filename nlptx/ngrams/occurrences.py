"""Finds the n-grams of texts and the texts that contain each n-gram."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.naive_bayes import find


def distinct_ngrams(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct n-grams of a text, sorted; ``keys`` is the result of :func:`.naive_bayes.ngram_keys`."""
    return np.unique(keys[keys >= 0])


def count_occurrences(
    distinct: list[NDArray[np.int64]], text_weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray]:
    """Return the sorted distinct n-grams of all texts, and the number (or total weight) of texts with each n-gram."""
    if not distinct:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if text_weights is not None:
        known, index = np.unique(np.concatenate(distinct), return_inverse=True)
        return known, np.bincount(index, np.repeat(text_weights, [len(part) for part in distinct]), len(known))
    every = np.sort(np.concatenate(distinct))
    first = np.flatnonzero(np.diff(every, prepend=-1))
    return every[first], np.diff(np.append(first, len(every)))


def presence(distinct: Iterable[NDArray[np.int64]], known: NDArray[np.int64]) -> sp.csr_matrix:
    """Return a (texts, G) float32 matrix that is 1 where a text contains an n-gram and 0 elsewhere.

    Args:
        distinct: distinct n-grams of each text.
        known: (G,) sorted n-grams, one per column; other n-grams are ignored.
    """
    columns = [indices[indices < len(known)] for indices in (find(part, known) for part in distinct)]
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in columns])])
    indices = np.concatenate(columns).astype(np.int32)
    return sp.csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(len(columns), len(known)))


def divided_by_root(rows: sp.csr_matrix, texts: Sequence[NDArray[np.integer]]) -> sp.csr_matrix:
    """Divide the row of each text in place by the square root of its number of words, and return the matrix."""
    words = np.array([max(len(ids), 1) for ids in texts])
    rows.data /= np.sqrt(np.repeat(words, np.diff(rows.indptr)))
    return rows
