"""Finds pairs of texts with nearly the same words.

The similarity of two texts is the Jaccard similarity of their sets of shingles (pairs of consecutive words).
Comparing every text with every other text would take too long. If two sets A and B have a Jaccard similarity of at
least t, they have at least ceil(t |A|) elements in common. Sort the elements of every set in the same order, and call
the first |A| - ceil(t |A|) + 1 elements of a set A its prefix. Then the prefixes of A and B have at least one element
in common (prefix filter: Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant 2007). The elements (shingles) are
sorted by their number of occurrences, the rarest first, so the prefixes of two texts rarely have an element in common.
Only pairs of texts whose prefixes have an element in common are compared in full.

Texts from a template, such as "order 17 was sent", may have a prefix element in common with thousands of other texts.
A large group of texts with the same prefix element is sorted by the smallest hash among the shingles of each text
(MinHash). Each text is then compared only with the few texts that follow it, so that the time is proportional to the
number of texts. The more similar two texts are, the more likely their smallest hashes are equal. Similar texts are
therefore usually neighbours in the sorted group. As a result, the pairs that are found link most of the similar texts
of a group, directly or through other texts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.data_quality.shingles import distinct_shingles, shingles
from nlptx.data_quality.words import TextWords
from nlptx.runtime.hashing import MULTIPLIER
from nlptx.runtime.slices import ranges
from nlptx.runtime.workers import Workers

# If at most _GROUP texts share a prefix element, each of them is compared with all the others. In a larger group, each
# text is compared only with the next _NEXT texts.
_GROUP, _NEXT = 16, 3
# Approximate number of words in a chunk, that is, in texts that are processed together.
_WORDS = 1 << 20
# Shingles are counted in 2^_BITS counters; the first _BITS bits of the hash of a shingle select its counter. If
# different shingles share a counter, the elements are sorted in another order, but all similar pairs still share a
# prefix element. With too few bits, many rare shingles would seem frequent, and too many pairs would be compared.
_BITS = 25


class SimilarPairs(NamedTuple):
    """Pairs of similar texts, sorted.

    Args:
        first, second: (P,) int64 indices of the texts; ``first`` is smaller.
        similarity: (P,) float64 Jaccard similarity of the shingles, from 0 to 1.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    similarity: NDArray[np.float64]


def similar_pairs(
    words: TextWords,
    rows: NDArray[np.int64],
    threshold: float,
    workers: Workers,
    on_progress: Callable[[float], None] = lambda fraction: None,
) -> SimilarPairs:
    """Find the pairs of texts whose similarity is at least ``threshold``.

    Args:
        words: words of all texts.
        rows: (B,) sorted indices of the texts to compare. Each of these texts has at least one word.
        threshold: minimum Jaccard similarity, above 0 and at most 1.
        workers: pool of threads; the number of threads does not change the result.
        on_progress: called with the completed fraction.
    """
    chunks = _chunks(words, rows)
    counts = np.zeros(1 << _BITS, np.int32)

    def count(chunk: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.unique(_buckets(shingles(words, chunk)[0]), return_counts=True)

    for done, (buckets, times) in enumerate(workers.map(count, chunks), start=1):
        counts[buckets] += times.astype(np.int32)
        on_progress(0.2 * done / len(chunks))
    all_prefixes: list[tuple[NDArray, NDArray, NDArray]] = []
    for done, prefixes in enumerate(
        workers.map(lambda chunk: _prefixes(words, chunk, threshold, counts), chunks), start=1
    ):
        all_prefixes.append(prefixes)
        on_progress(0.2 + 0.5 * done / len(chunks))
    if not all_prefixes:
        return SimilarPairs(rows[:0], rows[:0], np.zeros(0))
    key, text, minimum = (np.concatenate(column) for column in zip(*all_prefixes, strict=True))
    pairs = _candidates(key, text, minimum, len(words))
    sizes = words.lengths[pairs // len(words)] + words.lengths[pairs % len(words)]
    parts = np.split(pairs, np.flatnonzero(np.diff(np.cumsum(sizes) // (2 * _WORDS))) + 1)
    kept, similarity = [pairs[:0]], [np.zeros(0)]

    def compare(part: NDArray[np.int64]) -> NDArray[np.float64]:
        return _jaccard(words, *np.divmod(part, len(words)))

    for done, (part, values) in enumerate(workers.map_pairs(compare, ((part, part) for part in parts)), start=1):
        kept.append(part[values >= threshold])
        similarity.append(values[values >= threshold])
        on_progress(0.7 + 0.3 * done / len(parts))
    first, second = np.divmod(np.concatenate(kept), len(words))
    return SimilarPairs(first, second, np.concatenate(similarity))


def _chunks(words: TextWords, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split the texts into chunks of about _WORDS words."""
    part = np.cumsum(words.lengths[rows]) // _WORDS
    return [chunk for chunk in np.split(rows, np.flatnonzero(np.diff(part)) + 1) if len(chunk)]


def _hashes(keys: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the 64-bit hash of each shingle."""
    mixed = keys.astype(np.uint64) * MULTIPLIER
    return (mixed ^ (mixed >> np.uint64(29))) * MULTIPLIER


def _buckets(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of the counter of each shingle: the first _BITS bits of its hash."""
    return (_hashes(keys) >> np.uint64(64 - _BITS)).astype(np.int64)


def _prefixes(
    words: TextWords, rows: NDArray[np.int64], threshold: float, counts: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]:
    """Return the shingles in the prefixes of the texts ``rows``, each with the index and the MinHash of its text.

    A shingle whose counter is 1 is left out, because no other text contains the shingle.
    """
    keys, text, sizes = distinct_shingles(words, rows)
    seen = counts[_buckets(keys)]
    minimum = np.minimum.reduceat(_hashes(keys), np.cumsum(sizes) - sizes)
    order = np.lexsort((keys, seen, text))
    lengths = sizes - np.ceil(threshold * sizes - 1e-9).astype(np.int64) + 1
    chosen = order[ranges(np.cumsum(sizes) - sizes, lengths)]
    chosen = chosen[seen[chosen] > 1]
    return keys[chosen], rows[text[chosen]], minimum[text[chosen]]


def _candidates(
    key: NDArray[np.int64], text: NDArray[np.int64], minimum: NDArray[np.uint64], texts: int
) -> NDArray[np.int64]:
    """Return the pairs of texts to compare, sorted, each as a number ``first * texts + second``."""
    order = np.lexsort((text, minimum, key))
    key, text = key[order], text[order]
    _, group, sizes = np.unique(key, return_inverse=True, return_counts=True)
    small = sizes[group] <= _GROUP
    pairs = [np.zeros(0, np.int64)]
    for distance in range(1, min(_GROUP, len(key))):
        same = (key[distance:] == key[:-distance]) & (small[distance:] | (distance <= _NEXT))
        one, other = text[:-distance][same], text[distance:][same]
        pairs.append(np.minimum(one, other) * texts + np.maximum(one, other))
    return np.unique(np.concatenate(pairs))


def _jaccard(words: TextWords, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the similarity of each pair of texts."""
    rows, positions = np.unique(np.concatenate([first, second]), return_inverse=True)
    one, other = positions[: len(first)], positions[len(first) :]
    keys, text, sizes = distinct_shingles(words, rows)
    _, number = np.unique(keys, return_inverse=True)
    base = len(keys)
    members = text * base + number  # sorted, because `text` and the shingles of each text are sorted
    starts = np.cumsum(sizes) - sizes
    smaller, larger = np.where(sizes[one] <= sizes[other], (one, other), (other, one))
    pair = np.repeat(np.arange(len(first)), sizes[smaller])
    wanted = larger[pair] * base + number[ranges(starts[smaller], sizes[smaller])]
    index = np.minimum(np.searchsorted(members, wanted), len(members) - 1)
    common = np.bincount(pair[members[index] == wanted], minlength=len(first))
    return common / (sizes[one] + sizes[other] - common)
