"""Finds the distinct n-grams of each text, and the texts that contain each n-gram."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.key_index import KeyIndex
from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.ngrams.sorted_keys import counts_of, union_of_sorted
from nlptx.runtime.workers import SERIAL, Workers

Values = Callable[[NDArray[np.int32], NDArray[np.int64]], NDArray[np.float32]]
G = TypeVar("G")
# Number of words processed together: large enough for NumPy to work without the interpreter lock most of the time, and
# small enough for the processor cache.
_WORDS_PER_GROUP = 1 << 14


@dataclass(frozen=True)
class NgramSets:
    """The distinct n-grams of each text in a group of consecutive texts.

    Args:
        load: function that returns ``keys``, possibly from a file. Several threads may call this function at the same
            time.
        sizes: (texts,) number of distinct n-grams of each text.
    """

    load: Callable[[], NDArray[np.int64]]
    sizes: NDArray[np.int64]

    @property
    def keys(self) -> NDArray[np.int64]:
        """Keys of the n-grams, (N,) int64, sorted within each text; see :func:`.ngram_keys.ngram_keys`."""
        return self.load()


def ngrams_of_texts(
    texts: Iterable[NDArray[np.integer]],
    order: int,
    words: int,
    workers: Workers = SERIAL,
    budget: MemoryBudget | None = None,
) -> list[NgramSets]:
    """Return the distinct n-grams of each text, in groups of consecutive texts.

    Args:
        texts: word ids of each text.
        order: length of the longest n-gram.
        words: vocabulary size V; see :func:`.ngram_keys.ngram_keys`.
        workers: pool of threads or processes; its size does not change the result.
        budget: memory limit; None for no limit. N-grams that exceed the limit are written to a temporary file.

    Raises:
        OutputError: the temporary file cannot be written.
    """
    base = (words + 2) ** order
    groups = _in_groups(texts, max_texts=((1 << 63) - 1) // base)
    budget = budget or MemoryBudget.unlimited()
    stored = budget.growing_array(np.int64, 2 * budget.array_limit)
    result = []
    for keys, sizes in workers.map(partial(_distinct_ngrams, order=order, words=words, base=base), groups):
        stored.append(keys)
        result.append(NgramSets(partial(stored.read, len(stored) - len(keys), len(stored)), sizes))
    return result


def _in_groups(texts: Iterable[NDArray[np.integer]], max_texts: int) -> Iterator[list[NDArray[np.integer]]]:
    """Yield lists of consecutive texts, each with about _WORDS_PER_GROUP words, but at most ``max_texts`` texts."""
    group, words = [], 0
    for ids in texts:
        group.append(ids)
        words += len(ids)
        if words >= _WORDS_PER_GROUP or len(group) >= min(max_texts, _WORDS_PER_GROUP):
            yield group
            group, words = [], 0
    if group:
        yield group


def _distinct_ngrams(
    texts: list[NDArray[np.integer]], order: int, words: int, base: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct n-grams of each text, and their number in each text; see :class:`NgramSets`."""
    lengths = [len(ids) for ids in texts]
    keys = ngram_keys(np.concatenate(texts), order, words, lengths)
    # The index of the text becomes the first digit of each key, so that a single sort handles all texts.
    numbered = (keys + np.repeat(np.arange(len(texts)) * base, lengths)[:, None])[keys >= 0]
    numbered.sort()
    numbered = numbered[np.diff(numbered, prepend=-1) > 0]
    starts = np.searchsorted(numbered, np.arange(len(texts)) * base)
    sizes = np.diff(starts, append=len(numbered))
    return numbered - np.repeat(np.arange(len(texts)) * base, sizes), sizes


def sizes_of(sets: Sequence[NgramSets]) -> NDArray[np.int64]:
    """Return the number of distinct n-grams of each text, (texts,)."""
    return np.concatenate([np.zeros(0, np.int64), *(group.sizes for group in sets)])


def document_frequencies(
    sets: Sequence[NgramSets], text_weights: NDArray[np.float64] | None, workers: Workers = SERIAL
) -> tuple[NDArray[np.int64], NDArray]:
    """Return the sorted distinct n-grams of all texts, and the number (or total weight) of texts containing each."""
    # Each worker counts the n-grams whose keys are in one range.
    parts = list(workers.map(partial(count_in_range, sets, text_weights), key_ranges(sets, workers.jobs)))
    return np.concatenate([known for known, _ in parts]), np.concatenate([text_counts for _, text_counts in parts])


def key_ranges(sets: Sequence[NgramSets], count: int) -> list[tuple[int, float]]:
    """Divide the keys into ``count`` ranges (low, high) with about the same number of keys each; ``high`` is exclusive.

    The ranges are chosen from a sample of the keys.
    """
    # The sampled keys are copied, because a view would keep all keys of its group in memory.
    sample = np.concatenate([np.zeros(0, np.int64), *(group.keys[:: len(sets)].copy() for group in sets)])
    bounds = np.quantile(sample, np.arange(1, count) / count, method="nearest").tolist() if len(sample) else []
    return list(pairwise([0, *bounds, np.inf]))


def count_in_range(
    sets: Sequence[NgramSets], text_weights: NDArray[np.float64] | None, bounds: tuple[int, float]
) -> tuple[NDArray[np.int64], NDArray]:
    """Count like :func:`document_frequencies`, but only the keys from ``bounds[0]`` to ``bounds[1]`` (exclusive)."""
    low, high = bounds
    chosen, weights, done = [np.zeros(0, np.int64)], [np.zeros(0)], 0
    for group in sets:
        keys = group.keys
        inside = (keys >= low) & (keys < high)
        chosen.append(keys[inside])
        if text_weights is not None:
            weights.append(np.repeat(text_weights[done : done + len(group.sizes)], group.sizes)[inside])
        done += len(group.sizes)
    every = np.concatenate(chosen)
    if text_weights is not None:
        known, index = np.unique(every, return_inverse=True)
        return known, np.bincount(index, np.concatenate(weights), len(known))
    every.sort()
    first = np.flatnonzero(np.append(True, every[1:] != every[:-1])[: len(every)])
    return every[first], np.diff(first, append=len(every))


def ngrams_in_enough_texts(
    labelled: tuple[NDArray[np.int64], NDArray],
    unlabelled: tuple[NDArray[np.int64], NDArray],
    min_labelled: float,
    min_total: float,
) -> tuple[NDArray[np.int64], NDArray]:
    """Return the n-grams in at least ``min_labelled`` labelled texts, or in at least ``min_total`` texts in total.

    Args:
        labelled: n-grams of the labelled texts, with their counts, from :func:`document_frequencies`.
        unlabelled: n-grams of the unlabelled texts, with their counts.
        min_labelled: minimum number of labelled texts that contain an n-gram.
        min_total: minimum number of texts, labelled and unlabelled together. An n-gram that reaches this minimum is
            returned even if it occurs in no labelled text.

    Returns:
        The sorted n-grams, and the number of texts, with and without labels, that contain each of them.
    """
    # Only n-grams in at least `low` labelled texts, or in more than `min_total - low` unlabelled texts, can be frequent
    # enough.
    low = min(min_labelled, min_total)
    keys = union_of_sorted(labelled[0][labelled[1] >= low], unlabelled[0][unlabelled[1] > min_total - low])
    with_label = counts_of(keys, *labelled)
    total = with_label + counts_of(keys, *unlabelled)
    kept = (with_label >= min_labelled) | (total >= min_total)
    return keys[kept], total[kept]


def presence_matrix(
    sets: Iterable[NgramSets],
    known: NDArray[np.int64],
    workers: Workers = SERIAL,
    values: Values | None = None,
) -> sp.csr_matrix:
    """Return a (texts, G) float32 matrix that is 1 where a text contains an n-gram and 0 elsewhere.

    Args:
        sets: distinct n-grams of the texts, from :func:`ngrams_of_texts`.
        known: (G,) sorted n-grams, one per column. Other n-grams are ignored.
        workers: pool of threads or processes; its size does not change the result.
        values: function that computes the entries, or None if all entries are 1. Its arguments are the columns (N,) of
            the entries, row by row, and the number of entries in each row.
    """
    index = KeyIndex(known)
    return matrix_from_columns(sets, lambda group: (index.find(group.keys), group.sizes), len(known), workers, values)


def matrix_from_columns(
    groups: Iterable[G],
    find: Callable[[G], tuple[NDArray[np.integer], NDArray[np.int64]]],
    columns: int,
    workers: Workers = SERIAL,
    values: Values | None = None,
) -> sp.csr_matrix:
    """Return the same matrix as :func:`presence_matrix`, given a function that finds the columns of the entries.

    Args:
        groups: groups of consecutive texts, of any type that ``find`` accepts.
        find: function that returns the column of each n-gram of a group, (N,), and the number of n-grams of each text.
            An n-gram is ignored if ``find`` returns ``columns`` as its column.
        columns: number of columns.
        workers: pool of threads or processes; its size does not change the result.
        values: function that returns the entries; see :func:`presence_matrix`.
    """

    def rows_of(group: G) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.int64]]:
        """Return the columns and values of the entries of a group of texts, and the number of entries of each text."""
        column_ids, sizes = find(group)
        is_known = column_ids < columns
        kept = column_ids[is_known].astype(np.int32, copy=False)
        counts = np.diff(np.append(0, np.cumsum(is_known))[np.cumsum(sizes)], prepend=0)
        return kept, np.ones(len(kept), np.float32) if values is None else values(kept, counts), counts

    rows = list(workers.map(rows_of, groups))
    indices = np.concatenate([np.zeros(0, np.int32), *(kept for kept, _, _ in rows)])
    data = np.concatenate([np.zeros(0, np.float32), *(data for _, data, _ in rows)])
    indptr = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(counts for _, _, counts in rows)]))
    return sp.csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, columns))


def divide_by_root(rows: sp.csr_matrix, words: NDArray[np.integer]) -> sp.csr_matrix:
    """Divide each row, in place, by the square root of the number of words in its text, and return the matrix."""
    rows.data /= np.sqrt(np.repeat(np.maximum(words, 1), np.diff(rows.indptr)))
    return rows


def words_of(texts: Sequence[NDArray[np.integer]]) -> NDArray[np.int64]:
    """Return the number of words of each text, (texts,)."""
    return (
        texts.lengths.astype(np.int64)
        if isinstance(texts, RaggedArray)
        else np.array([len(ids) for ids in texts], np.int64)
    )
