"""The n-grams of texts, and the character n-grams of their words, as inputs of two models.

The models are the correction (:mod:`.correction`) and the subword model (:mod:`.subword_model`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.occurrences import divide_by_root, document_frequencies, ngrams_of_texts, presence_matrix, words_of
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.text.spelling_matrix import spelling_matrix

# Minimum number of texts in which a character n-gram must occur.
_MIN_CHARACTER_TEXTS = 3
# Number of texts whose character n-grams are in memory at the same time.
_TEXTS_PER_BLOCK = 1000


@dataclass(frozen=True)
class NgramRows:
    """The n-grams of a set of texts.

    Args:
        keys: (G,) int64 keys of the n-grams, sorted.
        rows: (texts, G) float32 matrix that is 1 / sqrt(T) where a text of T words contains an n-gram, and 0 elsewhere.
        idf: (G,) float32 inverse document frequencies i_g, divided by their mean.
        characters: (G, Q) float32 matrix. In the row of a single word, the entry of each character n-gram c of the word
            is j_c, the inverse document frequency of c divided by the mean over all Q character n-grams. The rows of
            longer n-grams are 0.
    """

    keys: NDArray[np.int64]
    rows: sp.csr_matrix
    idf: NDArray[np.float32]
    characters: sp.csr_matrix

    def of_texts(self, texts: NDArray[np.intp]) -> NgramRows:
        """Return the same n-grams with only the rows of some texts, given the indices of these texts."""
        return replace(self, rows=self.rows[texts])


def ngram_rows(
    texts: Sequence[NDArray[np.integer]],
    num_counted: int,
    order: int,
    vocabulary: Sequence[str],
    min_texts: int,
    text_weights: NDArray[np.float64] | None = None,
    workers: Workers = SERIAL,
) -> NgramRows:
    """Return the words and frequent longer n-grams of the first ``num_counted`` texts, and a row for each text.

    Args:
        texts: word ids (T,) of each text.
        num_counted: number of texts, from the start of ``texts``, whose n-grams are counted. The other texts, such as
            passages, have rows, but their n-grams are not counted.
        order: length of the longest n-gram; 0 for no n-grams.
        vocabulary: the V words.
        min_texts: minimum number of texts in which an n-gram of two or more words must occur. Single words are always
            included, because their character n-grams occur in other words too.
        text_weights: (num_counted,) weight of each counted text, or None. A text with a weight of 2 counts as two
            texts.
        workers: pool of threads or processes; its size does not change the result.
    """
    words = len(vocabulary)
    parts = texts[:num_counted], texts[num_counted:]
    first, more = (ngrams_of_texts(part, order, words, workers) for part in parts)
    known, text_counts = document_frequencies(first, text_weights, workers)
    # The keys of single words are the word ids + 1; they are smaller than all other keys.
    included = (text_counts >= min_texts) | (known <= words)
    known, text_counts = known[included], text_counts[included]
    total = num_counted if text_weights is None else text_weights.sum()
    idf = _inverse_frequencies(text_counts, total)
    rows = divide_by_root(presence_matrix(first + more, known, workers), words_of(texts))
    spelled = [vocabulary[key - 1] for key in known[: np.searchsorted(known, words, side="right")].tolist()]
    characters = _character_matrix(spelled, rows[:num_counted, : len(spelled)], text_weights, total)
    characters.resize(len(known), characters.shape[1])
    return NgramRows(known, rows, idf, characters)


def _character_matrix(
    words: Sequence[str], presence: sp.csr_matrix, text_weights: NDArray[np.float64] | None, total: float
) -> sp.csr_matrix:
    """Return the first V rows of :attr:`NgramRows.characters`, which belong to the n-grams that are single words.

    Args:
        words: the V n-grams that are single words, sorted by key.
        presence: (texts, V) matrix that is positive where a text contains a word.
        text_weights: (texts,) weight of each text, or None.
        total: number of texts, or the sum of their weights.
    """
    contains = spelling_matrix(words)
    weights = np.ones(presence.shape[0]) if text_weights is None else text_weights
    counts = np.zeros(contains.shape[1])
    for at in range(0, len(weights), _TEXTS_PER_BLOCK):
        block = slice(at, at + _TEXTS_PER_BLOCK)
        counts += weights[block] @ (presence[block] @ contains).astype(bool)
    frequent = counts >= _MIN_CHARACTER_TEXTS
    return contains[:, frequent] @ sp.diags(_inverse_frequencies(counts[frequent], total))


def _inverse_frequencies(text_counts: NDArray, total: float) -> NDArray[np.float32]:
    """Return inverse document frequencies, divided by their mean, given document frequencies out of ``total`` texts."""
    frequencies = np.log((total + 1) / (text_counts + 1)) + 1
    return (frequencies / frequencies.mean() if len(frequencies) else frequencies).astype(np.float32)
