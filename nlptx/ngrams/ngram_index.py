"""Looks up the n-grams of texts among known n-grams: single words in an array indexed by word id, others by key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.key_index import KeyIndex
from nlptx.ngrams.ngram_keys import ngram_keys


class NgramIndex:
    """An index that finds known n-grams in texts.

    Args:
        keys: (G,) int64 keys of the known n-grams, sorted and distinct; see
            :func:`nlptx.ngrams.ngram_keys.ngram_keys`.
        order: maximum length of the n-grams that are looked up.
        words: vocabulary size V.

    Attributes:
        single: number of known n-grams that consist of a single word. Their keys come before all others.
    """

    def __init__(self, keys: NDArray[np.int64], order: int, words: int) -> None:
        self._keys, self._order, self._words = keys, order, words
        # In base V + 2, the keys of longer n-grams have two or more digits, the first of which is not 0, so these keys
        # are at least V + 2.
        self.single = int(np.searchsorted(keys, words + 2))
        self._longer = KeyIndex(keys[self.single :])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the arguments of the constructor, not the tables that are built when n-grams are looked up."""
        return NgramIndex, (self._keys, self._order, self._words)

    @cached_property
    def _index_of_word(self) -> NDArray[np.int32]:
        """The index of each word of the vocabulary among the known n-grams; G if it is not one of them."""
        index_of_word = np.full(self._words + 2, len(self._keys), np.int32)
        index_of_word[self._keys[: self.single]] = np.arange(self.single)
        return index_of_word[1:]

    def find(self, ids: NDArray[np.integer], lengths: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int32]:
        """Return the indices (N, order) of the n-grams that end at each word; unknown n-grams have the index G.

        Args:
            ids: (N,) word ids of the texts, concatenated.
            lengths: (B,) number of words in each text.
        """
        keys = ngram_keys(ids, self._order, self._words, lengths)
        indices = np.empty(keys.shape, np.int32)
        indices[:, 0] = self._index_of_word[ids]
        indices[:, 1:] = self._longer.find(keys[:, 1:]) + self.single
        return indices
