"""The part of the responses of filters that comes from single words, through their word weights and word vectors.

If word w is word number i of a bag, its contribution to the responses is

    r_wi = (weights of w) + (vector of w) Q_i,

where the matrix Q_i consists of the rows of the vector weights that apply to word number i. Most words of a text also
occur in other texts, so r_wi is computed when w first occurs, and then kept. The product is computed for each word
separately, so that r_wi has the same bits, whichever other words are computed at the same time.

Axis letters: N positions, F filters, W known words, D components of the word vectors.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.regions.region_ngrams import BAG


class WordResponses:
    """Computes the part of the responses that depends on single words, and keeps it for later texts.

    Several threads may use an object at the same time: at worst, they compute the same numbers twice.

    Args:
        weights: (W, F) word weights.
        vectors: (W, D) word vectors.
        vector_weights: (BAG D, F) the matrices Q_i, one below the other.
    """

    def __init__(self, weights: NDArray, vectors: NDArray, vector_weights: NDArray) -> None:
        words, filters = weights.shape
        self._weights, self._vectors = weights, vectors
        self._matrix = np.hstack(np.split(vector_weights, BAG))  # (D, BAG F): the matrices Q_i, side by side
        self._table = np.empty((BAG, words + 1, filters), weights.dtype)  # r_wi at [i, w]; last w: unknown words
        self._table[:, words] = 0
        self._is_computed = np.zeros(words + 1, np.bool_)
        self._is_computed[words] = True

    def sums(self, bags: NDArray[np.int32]) -> NDArray:
        """Return the sums (N, F) of r_wi over the words of each bag.

        Args:
            bags: (N, BAG) indices of the words in the bag at each position; an unknown word has an index >= W.
        """
        words = np.minimum(bags, len(self._weights))
        if not self._is_computed[words].all():
            occurs = np.zeros(len(self._is_computed), np.bool_)
            occurs[words] = True
            self._compute(np.flatnonzero(occurs & ~self._is_computed))
        result = self._table[0].take(words[:, 0], axis=0)
        for number in range(1, BAG):
            result += self._table[number].take(words[:, number], axis=0)
        return result

    def _compute(self, words: NDArray[np.integer]) -> None:
        products = np.matmul(self._vectors[words, None], self._matrix)  # (n, 1, BAG F), one product per word
        # The shape is given in full, because another thread may have computed all words in the meantime, so that n = 0.
        of_bags = products.reshape(len(words), BAG, self._weights.shape[1]).transpose(1, 0, 2)  # (BAG, n, F)
        self._table[:, words] = of_bags + self._weights[words]
        self._is_computed[words] = True
