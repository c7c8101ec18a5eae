"""Estimates the vector of an unknown word from words with a similar spelling.

A word is represented by the set of its character n-grams (:mod:`nlptx.text.character_ngrams`). The similarity s of two
words is the cosine of their sets: the number of common n-grams, divided by the square root of the product of the set
sizes. The vectors of the most similar words are scaled to unit norm, and the estimate is their weighted mean. The
weight of a word is s^5 n / (n + 100), where n is its number of occurrences in the corpus. The factor n / (n + 100) is
small for rare words, because their vectors are inaccurate. The vector of a negated word, such as "¬good", is estimated
only from negated words, and that of any other word only from words that are not negated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.text.character_ngrams import character_ngrams
from nlptx.text.negation import is_marked, without_mark

# Maximum number of similar words whose vectors are averaged, and the constants 5 and 100 in the formula for the weight
# of a word.
_WORDS, _EXPONENT, _HALF_COUNT = 30, 5, 100
# No vector is estimated if the similarity of the most similar known word is below this value.
_MIN_SIMILARITY = 0.45


class SimilarWords(NamedTuple):
    """Known words with a spelling similar to that of an unknown word, the most similar word first.

    Args:
        indices: (K,) indices of the words; K is 0 if no word is similar enough.
        weights: (K,) weights of the vectors of these words; the weights sum to 1.
    """

    indices: NDArray[np.intp]
    weights: NDArray[np.float64]


def similar_words(word: str, words: Sequence[str], counts: NDArray[np.int64]) -> SimilarWords:
    """Return the known words whose spelling is most similar to that of an unknown word.

    Args:
        word: the unknown word.
        words: the V known words.
        counts: (V,) number of occurrences of each word in the corpus; all 0 if the counts are not known.

    >>> known = ["unwatchable", "watchable", "terrible", "good"]
    >>> similar_words("unwatchability", known, np.array([50, 90, 30, 1000])).indices
    array([0, 1])
    >>> similar_words("goods", ["good", "¬good"], np.array([50, 90])).indices
    array([0])
    """
    plain = [without_mark(known) for known in words]
    spellings = [f"<{known}>" for known in plain]
    lengths = np.array([len(spelling) + 1 for spelling in spellings])
    text, starts = "\n".join(spellings), np.cumsum(lengths) - lengths  # no n-gram of a word contains a line feed
    ngrams = character_ngrams(without_mark(word))
    shared = np.zeros(len(words), np.int64)
    for ngram in ngrams:
        shared[np.unique(np.searchsorted(starts, _occurrences(text, ngram), side="right") - 1)] += 1
    some = [index for index in np.flatnonzero(shared).tolist() if is_marked(words[index]) == is_marked(word)]
    sizes = np.array([len(character_ngrams(plain[index])) for index in some])
    similarity = shared[some] / np.sqrt(sizes * len(ngrams))
    order = np.argsort(-similarity, kind="stable")[:_WORDS]
    best, similarity = np.array(some, np.intp)[order], similarity[order]
    if not len(best) or similarity[0] < _MIN_SIMILARITY:
        return SimilarWords(best[:0], np.zeros(0))
    reliable = counts[best] / (counts[best] + _HALF_COUNT) if counts.any() else np.ones(len(best))
    weights = similarity**_EXPONENT * reliable
    return SimilarWords(best, weights / weights.sum()) if weights.any() else SimilarWords(best[:0], np.zeros(0))


def _occurrences(text: str, ngram: str) -> list[int]:
    """Return the positions of all occurrences of an n-gram in ``text``."""
    positions, position = [], text.find(ngram)
    while position >= 0:
        positions.append(position)
        position = text.find(ngram, position + 1)
    return positions
