"""Counts n-grams, and returns the most frequent ones. Pairs and triples are n-grams of two and of three words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.key_index import KeyIndex
from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.regions.spacing import in_groups
from nlptx.runtime.workers import SERIAL, Workers

# Minimum number of occurrences of a single word, and of an n-gram of two or three words. Little can be learned from
# rarer n-grams.
_MIN_WORD_COUNT, _MIN_COUNT = 2, 15
# Approximate number of words in a group of texts whose n-grams are counted at once.
_WORDS_PER_GROUP = 1 << 20
# Maximum number of distinct pairs, and of distinct triples, that are kept from one group to the next, to limit memory.
_MAX_COUNTED = 1 << 22


def frequent_ngrams(
    texts: Sequence[NDArray[np.integer]], words: int, max_words: int, max_longer: int, workers: Workers = SERIAL
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sorted keys (G,) of the most frequent n-grams of up to three words, and the count (V,) of each word.

    The start of a text counts as a word, except in n-grams of one word; see :func:`.ngram_keys.ngram_keys`. A triple
    occurs at most as often as the two pairs that it contains. So the pairs are counted first, and then only the triples
    whose two pairs are frequent enough.

    After each group of texts, the rarest pairs (or triples) are dropped if there are more than _MAX_COUNTED of them. In
    a large corpus, the counts of rare n-grams are therefore slightly too low.

    Args:
        texts: word ids of each text; every id is less than ``words``.
        words: vocabulary size V.
        max_words: maximum number of n-grams of one word.
        max_longer: maximum number of n-grams of two or three words.
        workers: pool of threads; its size does not change the result.
    """
    base = words + 2

    def count_words_and_pairs(group: list[NDArray[np.integer]]) -> tuple[NDArray[np.int64], sp.csr_matrix]:
        ids, keys, _ = _pairs(group, words)
        return np.bincount(ids, minlength=words), _occurrences(*np.divmod(keys, base), (base, base))

    def count_triples(group: list[NDArray[np.integer]]) -> sp.csr_matrix:
        ids, keys, starts = _pairs(group, words)
        found = known.find(keys)
        is_frequent = found < len(pair_keys)
        # Two consecutive pairs form a triple, unless the second pair belongs to the next text.
        begins = is_frequent[:-1] & is_frequent[1:]
        begins[starts[1:] - 1] = False
        return _occurrences(found[:-1][begins], ids[1:][begins] + 1, (len(pair_keys), base))

    word_counts = np.zeros(words, np.int64)
    pairs = sp.csr_matrix((base, base), dtype=np.int32)  # entry (first, second): number of occurrences of this pair
    for of_words, of_pairs in workers.map(count_words_and_pairs, in_groups(texts, _WORDS_PER_GROUP)):
        word_counts += of_words
        pairs = _without_rarest(pairs + of_pairs)
    row, column, pair_counts = _entries(pairs, _threshold(pairs.data, max_longer))
    pair_keys = row * base + column
    known = KeyIndex(pair_keys)
    triples = sp.csr_matrix((len(pair_keys), base), dtype=np.int32)  # rows: the first two words; columns: the third
    for of_triples in workers.map(count_triples, in_groups(texts, _WORDS_PER_GROUP)):
        triples = _without_rarest(triples + of_triples)
    row, column, triple_counts = _entries(triples, _MIN_COUNT)
    longer = np.concatenate([pair_keys, pair_keys[row] * base + column])
    counts = np.concatenate([pair_counts, triple_counts])
    order = np.argsort(longer)
    chosen = order[_most_frequent(counts[order], _MIN_COUNT, max_longer)]
    return np.concatenate([_most_frequent(word_counts, _MIN_WORD_COUNT, max_words) + 1, longer[chosen]]), word_counts


def _pairs(
    group: list[NDArray[np.integer]], words: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the word ids (N,) of the texts, the keys (N,) of the pairs that end at these words, and the texts' starts.

    The start of a text is the index of its first word, (texts,).
    """
    lengths = np.array([len(ids) for ids in group])
    ids = np.concatenate(group).astype(np.int64)
    return ids, ngram_keys(ids, 2, words, lengths)[:, 1], np.cumsum(lengths) - lengths


def _occurrences(rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> sp.csr_matrix:
    """Return a matrix with the number of times that each pair of a row and a column occurs in the two arrays.

    The counts are int32: the texts have fewer than 2^31 words in total.
    """
    return sp.csr_matrix((np.ones(len(rows), np.int32), (rows, columns)), shape=shape)


def _without_rarest(counts: sp.csr_matrix) -> sp.csr_matrix:
    """Return the matrix without its lowest counts if it contains more than _MAX_COUNTED in total."""
    while counts.nnz > _MAX_COUNTED:
        counts.data[counts.data == counts.data.min()] = 0
        counts.eliminate_zeros()
    return counts


def _threshold(counts: NDArray[np.int32], max_results: int) -> int:
    """Return the lowest of the ``max_results`` highest counts, or _MIN_COUNT if the lowest is smaller."""
    if len(counts) <= max_results:
        return _MIN_COUNT
    return max(_MIN_COUNT, int(np.partition(counts, -max_results)[-max_results]))


def _entries(counts: sp.csr_matrix, min_count: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows, columns and values of all counts of at least ``min_count``, sorted by row and column."""
    counts.sort_indices()
    kept = np.flatnonzero(counts.data >= min_count)
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))[kept]
    return rows, counts.indices[kept].astype(np.int64), counts.data[kept].astype(np.int64)


def _most_frequent(counts: NDArray[np.int64], min_count: int, max_results: int) -> NDArray[np.intp]:
    """Return, in ascending order, indices of the ``max_results`` largest counts, except counts below ``min_count``."""
    order = np.argsort(-counts, kind="stable")[:max_results]
    return np.sort(order[counts[order] >= min_count])
