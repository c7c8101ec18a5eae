"""Encodes n-grams as ids, so that each n-gram is looked up only once, even if several matrices are computed.

The id of an n-gram is its index in a list of n-grams. N-grams that are not in the list (mostly rare ones) are still
represented by their keys. Unlike keys, ids can be counted without sorting them, and an array can map them to the
columns of a matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.ngrams.key_index import KeyIndex, hash_keys
from nlptx.ngrams.occurrences import NgramSets
from nlptx.ngrams.sorted_keys import positions_of
from nlptx.runtime.workers import SERIAL, Workers

# Maximum number of counters for the approximate counts of n-grams without an id. Several n-grams may share a counter.
_COUNTERS = 1 << 22
# Number of parts into which the groups of texts are divided for counting.
_PARTS = 8


@dataclass(frozen=True)
class NgramIdSets:
    """The distinct n-grams of consecutive texts.

    Args:
        load: function that returns the id of each n-gram, (N,) int32; -1 for n-grams that are not in the list.
        load_others: function that returns the keys of the n-grams that are not in the list.
        sizes: (texts,) number of distinct n-grams of each text.
    """

    load: Callable[[], NDArray[np.int32]]
    load_others: Callable[[], NDArray[np.int64]]
    sizes: NDArray[np.int64]


def encode_ngrams(
    sets: Iterable[NgramSets], listed: NDArray[np.int64], workers: Workers = SERIAL, budget: MemoryBudget | None = None
) -> list[NgramIdSets]:
    """Encode the n-grams of all texts as ids.

    Args:
        sets: distinct n-grams of the texts.
        listed: sorted list of the n-grams that get ids.
        workers: pool of threads or processes; its size does not change the result.
        budget: memory limit; None for no limit. Data that exceeds the limit is written to temporary files.

    Raises:
        OutputError: the temporary files cannot be written.
    """
    budget = budget or MemoryBudget.unlimited()
    all_ids = budget.growing_array(np.int32, budget.array_limit)
    all_others = budget.growing_array(np.int64, budget.array_limit)
    index, result = KeyIndex(listed), []

    def encode(group: NgramSets) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        keys = group.keys
        ids = index.find(keys).astype(np.int32)
        other = ids == len(listed)
        ids[other] = -1
        return ids, keys[other], group.sizes

    for ids, others, sizes in workers.map(encode, sets):
        all_ids.append(ids)
        all_others.append(others)
        result.append(
            NgramIdSets(
                partial(all_ids.read, len(all_ids) - len(ids), len(all_ids)),
                partial(all_others.read, len(all_others) - len(others), len(all_others)),
                sizes,
            )
        )
    return result


def count_encoded(
    sets: Sequence[NgramIdSets], listed: NDArray[np.int64], min_texts: int, workers: Workers = SERIAL
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all listed n-grams and the frequent unlisted ones, sorted, and the number of texts that contain each.

    An unlisted n-gram is frequent if at least ``min_texts`` texts contain it.

    Args:
        sets: encoded n-grams of the texts.
        listed: sorted n-grams that have ids.
        min_texts: minimum number of texts that must contain a frequent n-gram.
        workers: pool of threads or processes; its size does not change the result.
    """
    text_counts = _histogram(lambda group: group.load() + 1, sets, len(listed) + 1, workers)[1:]
    frequent = _frequent(sets, min_texts, workers)
    others, other_counts = np.unique(np.concatenate([np.zeros(0, np.int64), *frequent]), return_counts=True)
    others, other_counts = others[other_counts >= min_texts], other_counts[other_counts >= min_texts]
    insertion_points = np.searchsorted(listed, others)
    return np.insert(listed, insertion_points, others), np.insert(text_counts, insertion_points, other_counts)


def _frequent(sets: Sequence[NgramIdSets], min_texts: int, workers: Workers) -> Iterable[NDArray[np.int64]]:
    """Return the n-grams without an id, but leave out many of those that occur in fewer than ``min_texts`` texts.

    The n-grams are counted by a fixed number of counters, which several n-grams may share. The count of a shared
    counter is at least the count of each of its n-grams, so no frequent n-gram is left out.
    """
    if min_texts == 1:
        return (group.load_others() for group in sets)
    ngrams = sum(int(group.sizes.sum()) for group in sets)
    counters = min(1 << (2 * ngrams).bit_length(), _COUNTERS)
    counts = _histogram(lambda group: hash_keys(group.load_others(), counters), sets, counters, workers)
    often = counts >= min_texts

    def of_group(group: NgramIdSets) -> NDArray[np.int64]:
        keys = group.load_others()
        return keys[often[hash_keys(keys, counters)]]

    return workers.map(of_group, sets)


def _histogram(
    values: Callable[[NgramIdSets], NDArray[np.integer]], sets: Sequence[NgramIdSets], size: int, workers: Workers
) -> NDArray[np.int64]:
    """Return how often each number below ``size`` occurs in the arrays ``values(group)`` of all groups in ``sets``."""
    total = np.zeros(size, np.int64)
    parts = np.array_split(np.arange(len(sets)), _PARTS)
    for part in workers.map(
        lambda part: np.bincount(np.concatenate([np.zeros(0, np.int32), *(values(sets[k]) for k in part)]), None, size),
        parts,
    ):
        total += part
    return total


class ColumnIndex:
    """Finds the matrix columns of encoded n-grams.

    Args:
        listed: sorted n-grams that have ids.
        known: (G,) sorted n-grams, one per column of the matrix.
    """

    def __init__(self, listed: NDArray[np.int64], known: NDArray[np.int64]) -> None:
        # The first array contains the column of each listed n-gram, and the second array the column of each other known
        # n-gram. The extra last entry of both, G, stands for "no column": the id -1 of an unlisted n-gram selects it in
        # the first array, and an unknown key selects it in the second array.
        self._of_listed = np.append(positions_of(listed, known), len(known)).astype(np.int32)
        others = np.flatnonzero(positions_of(known, listed) == len(listed))
        self._of_others = np.append(others, len(known)).astype(np.int32)
        self._others = KeyIndex(known[others])

    def find(self, group: NgramIdSets) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the column of each n-gram of a group of texts (G for unknown n-grams), and ``group.sizes``."""
        ids = group.load()
        columns = self._of_listed[ids]
        if len(self._of_others) > 1:
            columns[ids < 0] = self._of_others[self._others.find(group.load_others())]
        return columns, group.sizes
