"""Finds the known n-grams in the region at each position of a text. A region consists of consecutive words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.extension import keys_with_words
from nlptx.ngrams.naive_bayes import ngram_keys
from nlptx.ngrams.ngram_index import NgramIndex
from nlptx.ngrams.sorted_keys import counts_of, union_of_sorted
from nlptx.regions.spacing import in_groups, with_gaps
from nlptx.runtime.workers import SERIAL, Workers

# Length of the longest n-grams.
ORDER = 3
# Number of consecutive words in the bag of words of a region. The first is the word at the position of the region.
BAG = 3
# Maximum distance between the position of a region and a word of its n-grams.
AROUND = 2
# Maximum distance between the position of a region and a word of its bag or of its n-grams.
REACH = max(BAG - 1, AROUND)
# Minimum number of occurrences of a single word, and of an n-gram of two or more words. Little can be learned from
# rarer n-grams.
_MIN_WORD_COUNT, _MIN_COUNT = 2, 15
# Approximate number of words in a group of texts whose n-grams are counted at once.
_WORDS_PER_GROUP = 1 << 20
# Maximum number of n-grams of two or more words that are kept from one group to the next, to limit memory.
_MAX_COUNTED = 1 << 22


class RegionNgrams:
    """The n-grams that regions may contain: single words, and pairs and triples of consecutive words.

    Args:
        keys: (G,) int64 keys of the n-grams, sorted; see :func:`nlptx.ngrams.naive_bayes.ngram_keys`. The keys of the W
            single words come first.
        words: vocabulary size V.
    """

    def __init__(self, keys: NDArray[np.int64], words: int) -> None:
        self.keys, self.words = keys, words
        self._index = NgramIndex(keys, ORDER, words)

    @classmethod
    def count(
        cls,
        texts: Sequence[NDArray[np.integer]],
        words: int,
        max_words: int,
        max_longer: int,
        workers: Workers = SERIAL,
    ) -> tuple[RegionNgrams, NDArray[np.int64]]:
        """Return the most frequent n-grams of texts, and the number of occurrences (V,) of each word.

        After each group of texts, the rarest n-grams of two or more words are dropped if there are more than
        _MAX_COUNTED of these n-grams. In a large corpus, the counts of rare n-grams are therefore slightly too low.

        Args:
            texts: word ids of each text; every id is less than ``words``.
            words: vocabulary size V.
            max_words: maximum number of n-grams of one word.
            max_longer: maximum number of n-grams of two or more words.
            workers: pool of threads; its size does not change the result.
        """

        def work(group: list[NDArray[np.integer]]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
            group_keys = ngram_keys(np.concatenate(group), ORDER, words, [len(ids) for ids in group])
            longer = group_keys[:, 1:]
            return np.bincount(group_keys[:, 0] - 1, minlength=words), *np.unique(
                longer[longer >= 0], return_counts=True
            )

        counts = np.zeros(words, np.int64)
        keys, totals = np.zeros(0, np.int64), np.zeros(0, np.int64)
        for word_counts, *more in workers.map(work, in_groups(texts, _WORDS_PER_GROUP)):
            counts += word_counts
            every = union_of_sorted(keys, more[0])
            keys, totals = _without_rarest(every, counts_of(every, keys, totals) + counts_of(every, *more))
        frequent = _most_frequent(counts, _MIN_WORD_COUNT, max_words)
        return cls(np.concatenate([frequent + 1, keys[_most_frequent(totals, _MIN_COUNT, max_longer)]]), words), counts

    def with_words(self, words: int) -> RegionNgrams:
        """Return the same n-grams for a vocabulary that was extended to ``words`` words by appending new ones."""
        return RegionNgrams(keys_with_words(self.keys, ORDER, self.words, words), words)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def single(self) -> int:
        """Number of single words, W."""
        return self._index.single

    @property
    def word_ids(self) -> NDArray[np.int64]:
        """The ids (W,) of the single words."""
        return self.keys[: self.single] - 1

    def find(self, ids: NDArray[np.integer], lengths: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return for each word the indices of the n-grams of 1 to ORDER words ending there, (N, ORDER); G if unknown.

        Args:
            ids: (N,) word ids of the texts, concatenated.
            lengths: (B,) number of words in each text.
        """
        return self._index.find(ids, lengths)

    def bags(self, ngram_indices: NDArray[np.int32], lengths: NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the indices (N, BAG) of the words in the bag at each position; an unknown word has an index >= W.

        Args:
            ngram_indices: (N, ORDER) indices from :meth:`find`.
            lengths: (B,) number of words in each text.
        """
        spaced, positions = with_gaps(ngram_indices[:, 0], lengths, REACH, len(self.keys))
        return np.stack([spaced[positions + offset] for offset in range(BAG)], axis=1)

    def sums_around(self, table: NDArray, ngram_indices: NDArray[np.int32], lengths: NDArray[np.integer]) -> NDArray:
        """Return, for each position, the sum of the rows of ``table`` that belong to the n-grams of the region, (N, K).

        The n-grams of the region consist of words that are at most AROUND words before or after the position. The sums
        do not depend on other texts, not even in the last bit.

        Args:
            table: (G, K) one row per known n-gram.
            ngram_indices: (N, ORDER) indices from :meth:`find`.
            lengths: (B,) number of words in each text.
        """
        spaced, positions = with_gaps(ngram_indices, lengths, REACH, len(table))  # (P, ORDER)
        result = np.zeros((len(spaced), table.shape[1]), table.dtype)
        # `rows` contains, for each position, the sum over the n-grams that end there, (P, K). The loop goes through the
        # words of a region. An n-gram of n + 1 words (column n) that ends at one of the first n words begins before the
        # region, so column n is added to `rows` only after these words.
        rows = rows_of(table, spaced[:, 0])
        for n, offset in enumerate(range(-AROUND, AROUND + 1)):
            if 0 < n < spaced.shape[1]:
                rows += rows_of(table, spaced[:, n])
            start, stop = max(-offset, 0), len(spaced) - max(offset, 0)
            result[start:stop] += rows[start + offset : stop + offset]
        return result.take(positions, axis=0)


def _without_rarest(keys: NDArray[np.int64], counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return n-grams and their counts, without the rarest n-grams if there are more than _MAX_COUNTED in total."""
    while len(keys) > _MAX_COUNTED:
        kept = counts > counts.min()
        keys, counts = keys[kept], counts[kept]
    return keys, counts


def _most_frequent(counts: NDArray[np.int64], min_count: int, max_results: int) -> NDArray[np.intp]:
    """Return, in ascending order, indices of the ``max_results`` largest counts, except counts below ``min_count``."""
    order = np.argsort(-counts, kind="stable")[:max_results]
    return np.sort(order[counts[order] >= min_count])


def rows_of(table: NDArray, indices: NDArray[np.int32]) -> NDArray:
    """Return the row of the table at each index, or zeros if the index is len(table) or more."""
    if not len(table):
        return np.zeros((len(indices), table.shape[1]), table.dtype)
    rows = table.take(indices, axis=0, mode="clip")
    rows[indices >= len(table)] = 0
    return rows
