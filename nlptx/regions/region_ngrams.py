"""Finds the known n-grams in the region at each position of a text. A region consists of consecutive words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.ngram_index import NgramIndex
from nlptx.ngrams.ngram_keys import keys_with_words
from nlptx.regions.spacing import with_gaps
from nlptx.runtime.workers import SERIAL, Workers

# Length of the longest n-grams.
ORDER = 3
# Number of consecutive words in the bag of words of a region. The first is the word at the position of the region.
BAG = 3
# Maximum distance between the position of a region and a word of its n-grams.
AROUND = 2
# Maximum distance between the position of a region and a word of its bag or of its n-grams.
REACH = max(BAG - 1, AROUND)


class RegionNgrams:
    """The n-grams that regions may contain: single words, and pairs and triples of consecutive words.

    Args:
        keys: (G,) int64 keys of the n-grams, sorted; see :func:`nlptx.ngrams.ngram_keys.ngram_keys`. The keys of the W
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

        For the arguments, see :func:`.frequent_ngrams.frequent_ngrams`.
        """
        from nlptx.regions.frequent_ngrams import frequent_ngrams  # imports SciPy, which scoring does not need

        keys, counts = frequent_ngrams(texts, words, max_words, max_longer, workers)
        return cls(keys, words), counts

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


def rows_of(table: NDArray, indices: NDArray[np.int32]) -> NDArray:
    """Return the row of the table at each index, or zeros if the index is len(table) or more."""
    if not len(table):
        return np.zeros((len(indices), table.shape[1]), table.dtype)
    rows = table.take(indices, axis=0, mode="clip")
    rows[indices >= len(table)] = 0
    return rows
