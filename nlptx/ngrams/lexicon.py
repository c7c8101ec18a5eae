"""Uses a lexicon as a prior for the ratio model of the n-gram features.

If the value of an n-gram in the lexicon is v, the prior mean of its weight is s v instead of 0. The number s is fitted
to the data; there is one s per output. Such a prior is equivalent to an additional feature: the sum of the values of
the n-grams in a text, divided, like all features, by the square root of the number of words. With a lexicon, even words
that no training text contains have weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.ngrams.occurrences import NgramSets, divide_by_root, presence_matrix, words_of
from nlptx.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class LexiconPrior:
    """The n-grams of a lexicon, and their values.

    Args:
        keys: (L,) int64 keys of the n-grams, sorted; see :func:`nlptx.ngrams.ngram_keys.ngram_keys`.
        values: (L,) float32 value of each n-gram; the values are scaled so that their root mean square is 1.
    """

    keys: NDArray[np.int64]
    values: NDArray[np.float32]

    @classmethod
    def of(cls, entries: Mapping[str, float], vocabulary: Vocabulary, order: int) -> LexiconPrior | None:
        """Return the prior for the entries of a lexicon, or None if no entry can be used.

        Entries with the value 0, and entries that contain an unknown word, are left out.

        Args:
            entries: word or phrase -> value.
            vocabulary: vocabulary of the model.
            order: length of the longest n-gram; longer phrases are left out.
        """
        value_of = {}
        for entry, value in entries.items():
            tokens = vocabulary.tokenizer(entry)
            ids = vocabulary.encode_tokens(tokens)
            if value and 1 <= len(ids) == len(tokens) <= order:
                value_of[int(ngram_keys(ids, order, len(vocabulary))[-1, len(ids) - 1])] = value
        if not value_of:
            return None
        keys = np.array(sorted(value_of), np.int64)
        values = np.array([value_of[key] for key in keys.tolist()])
        values = values / np.abs(values).max()  # so that no square overflows
        return cls(keys, (values / np.sqrt(np.mean(values**2))).astype(np.float32))

    def rows(self, sets: Sequence[NgramSets], texts: Sequence[NDArray[np.integer]]) -> sp.csr_matrix:
        """Return the lexicon feature of each text, (texts, 1) float32, given its distinct n-grams and its word ids."""
        return sp.csr_matrix(divide_by_root(presence_matrix(sets, self.keys), words_of(texts)) @ self.values[:, None])


def lexicon_words(entries: Mapping[str, float], vocabulary: Vocabulary, order: int) -> list[str]:
    """Return the distinct words of a lexicon that are not in a vocabulary, in the order of the lexicon.

    Words that occur only in phrases of more than ``order`` words are left out, because the prior cannot use them.
    """
    phrases = map(vocabulary.tokenizer, entries)
    tokens = (token for phrase in phrases if len(phrase) <= order for token in phrase)
    return list(dict.fromkeys(token for token in tokens if token not in vocabulary.index))
