"""Finds the n-grams of texts and the texts that contain each n-gram."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.naive_bayes import find, ngram_keys
from nlptx.runtime.workers import SERIAL, Workers

# Number of texts processed together: enough for NumPy to work without the interpreter lock most of the time.
_TOGETHER = 64


def ngrams_of_texts(
    texts: Iterable[NDArray[np.integer]], order: int, words: int, workers: Workers = SERIAL
) -> Iterator[NDArray[np.int64]]:
    """Yield the distinct n-grams of each text, sorted.

    Args:
        texts: word ids of each text.
        order: length of the longest n-gram.
        words: V; see :func:`.naive_bayes.ngram_keys`.
        workers: threads to use; they do not change the result.
    """
    for part in workers.map(partial(_distinct_ngrams, order=order, words=words), in_groups(texts)):
        yield from part


def in_groups(items: Iterable[NDArray]) -> Iterator[list[NDArray]]:
    """Yield the items in lists, each of as many items as are processed together."""
    iterator = iter(items)
    while group := list(islice(iterator, _TOGETHER)):
        yield group


def _distinct_ngrams(texts: list[NDArray[np.integer]], order: int, words: int) -> list[NDArray[np.int64]]:
    lengths = [len(ids) for ids in texts]
    keys = ngram_keys(np.concatenate(texts), order, words, lengths)
    largest = (words + 2) ** order
    if largest * len(texts) >= 1 << 63:  # the number of the text does not fit beside the key
        return [distinct_ngrams(part) for part in np.split(keys, np.cumsum(lengths)[:-1])]
    numbered = (keys + np.repeat(np.arange(len(texts)) * largest, lengths)[:, None])[keys >= 0]
    numbered.sort()
    numbered = numbered[np.diff(numbered, prepend=-1) > 0]
    ends = np.searchsorted(numbered, np.arange(1, len(texts)) * largest)
    return [part - number * largest for number, part in enumerate(np.split(numbered, ends))]


def distinct_ngrams(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct n-grams of a text, sorted; ``keys`` is the result of :func:`.naive_bayes.ngram_keys`."""
    return np.unique(keys[keys >= 0])


def count_occurrences(
    distinct: list[NDArray[np.int64]], text_weights: NDArray[np.float64] | None, workers: Workers = SERIAL
) -> tuple[NDArray[np.int64], NDArray]:
    """Return the sorted distinct n-grams of all texts, and the number (or total weight) of texts with each n-gram."""
    if not distinct:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if text_weights is not None:
        known, index = np.unique(np.concatenate(distinct), return_inverse=True)
        return known, np.bincount(index, np.repeat(text_weights, [len(part) for part in distinct]), len(known))
    every = _sorted(np.concatenate(distinct), workers)
    first = np.flatnonzero(np.diff(every, prepend=-1))
    return every[first], np.diff(np.append(first, len(every)))


def _sorted(numbers: NDArray[np.int64], workers: Workers) -> NDArray[np.int64]:
    """Return the numbers, sorted: one part per worker, and then the parts together."""
    parts = np.array_split(numbers, workers.jobs)
    joined = np.concatenate(list(workers.map(np.sort, parts)))
    if len(parts) > 1:
        joined.sort(kind="stable")  # merges sorted parts in linear time
    return joined


def presence(
    distinct: Iterable[NDArray[np.int64]], known: NDArray[np.int64], workers: Workers = SERIAL
) -> sp.csr_matrix:
    """Return a (texts, G) float32 matrix that is 1 where a text contains an n-gram and 0 elsewhere.

    Args:
        distinct: distinct n-grams of each text.
        known: (G,) sorted n-grams, one per column; other n-grams are ignored.
        workers: threads to use; they do not change the result.
    """

    def columns_of(group: list[NDArray[np.int64]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the columns of a group of texts, concatenated, and the number of columns of each text."""
        indices = find(np.concatenate(group), known)
        found = indices < len(known)
        ends = np.cumsum([len(part) for part in group])
        return indices[found].astype(np.int32), np.diff(np.append(0, np.cumsum(found))[ends], prepend=0)

    columns, counts = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for indices, of_text in workers.map(columns_of, in_groups(distinct)):
        columns.append(indices)
        counts.append(of_text)
    indptr, indices = np.cumsum(np.concatenate(counts)), np.concatenate(columns)
    return sp.csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(len(indptr) - 1, len(known)))


def divided_by_root(rows: sp.csr_matrix, texts: Sequence[NDArray[np.integer]]) -> sp.csr_matrix:
    """Divide the row of each text in place by the square root of its number of words, and return the matrix."""
    words = np.array([max(len(ids), 1) for ids in texts])
    rows.data /= np.sqrt(np.repeat(words, np.diff(rows.indptr)))
    return rows
