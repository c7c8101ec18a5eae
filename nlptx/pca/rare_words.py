"""Moves the vectors of rare words towards the vectors of words with a similar spelling.

The vector u_w of a rare word is inaccurate, because it was computed from few occurrences. Words with common character
n-grams often have related meanings ("watchable", "unwatchable"). If n_w is the number of occurrences of word w, and k
is a constant, the *reliability* of its vector is

    r_w = n_w / (n_w + k).

For word w, the vector m_gw of n-gram g is the mean of the unit vectors û_j of all other words j that contain g,
weighted by their reliabilities. The estimate e_w is the mean of these vectors over the n-grams of w, scaled to unit
norm:

    m_gw = sum of r_j û_j / sum of r_j      over the words j that contain g, without w
    e_w  = s / |s|,   where s = sum of m_gw over the n-grams g of w

The direction of u_w changes to that of r_w û_w + (1 - r_w) e_w; its norm stays the same, unless the two terms cancel.
If no n-gram of w occurs in another word, u_w does not change. The n-grams of negated words ("¬good") are marked as
well, so negated words affect only each other.

Source: the representation of words by their character n-grams is that of Bojanowski et al. (2017), "Enriching Word
Vectors with Subword Information"; there, the vectors of the n-grams are learned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.runtime.workers import Workers
from nlptx.text.spelling_matrix import spelling_matrix

# Number of components that each thread computes at a time, which limits the memory for the vectors of all n-grams.
_COMPONENTS = 4


def improve_rare_words(
    vectors: NDArray, words: Sequence[str], counts: NDArray[np.int64], weight: float, workers: Workers
) -> NDArray:
    """Return word vectors (V, R) in which rare words are moved towards words with a similar spelling.

    Args:
        vectors: (V, R) vectors u from the counts.
        words: the V words.
        counts: (V,) number of occurrences of each word.
        weight: the constant k. The vector of a word with k occurrences has the same weight as the estimate from its
            spelling.
        workers: pool of threads; the number of threads does not change the result.
    """
    norms = _norms(vectors)
    reliability = np.where(norms > 0, counts / (counts + weight), 0)
    ngrams = spelling_matrix(words)
    ngrams = ngrams[:, np.bincount(ngrams.indices, minlength=ngrams.shape[1]) > 1]  # most n-grams are in only one word
    means, sums = _means_of_others(ngrams, reliability)
    to_weighted = _ratio(reliability, norms)  # factors that turn the vectors u_w into r_w û_w
    result = np.empty_like(vectors)

    def estimate(columns: slice) -> None:
        weighted = vectors[:, columns] * to_weighted
        # The means m_gw leave out word w, so its part of the sums over all words is subtracted.
        result[:, columns] = means @ (ngrams.T @ weighted) - sums[:, None] * weighted

    blocks = [slice(first, first + _COMPONENTS) for first in range(0, vectors.shape[1], _COMPONENTS)]
    for _ in workers.map(estimate, blocks):
        pass
    # So far, the rows of ``result`` are the sums s. The next lines turn each into r_w û_w + (1 - r_w) e_w, scaled to
    # the norm of u_w.
    result *= _ratio(1 - reliability, _norms(result)).astype(vectors.dtype)
    result += vectors * to_weighted.astype(vectors.dtype)
    result *= _ratio(norms, _norms(result)).astype(vectors.dtype)
    return result


def _means_of_others(ngrams: sp.csr_matrix, reliability: NDArray) -> tuple[sp.csr_matrix, NDArray]:
    """Return the factors of the means m_gw: a sparse matrix (V, G), and the sum of each of its rows, (V,).

    If word w contains n-gram g, the entry is 1 / (sum of r_j over the other words j that contain g), or 0 if this sum
    is 0.
    """
    words = np.repeat(np.arange(len(reliability)), np.diff(ngrams.indptr))
    others = (ngrams.T @ reliability)[ngrams.indices] - reliability[words]
    inverse = np.divide(1, others, out=np.zeros_like(others), where=others > 0)
    means = sp.csr_matrix((inverse, ngrams.indices, ngrams.indptr), ngrams.shape)
    return means, np.bincount(words, inverse, len(reliability))


def _norms(vectors: NDArray) -> NDArray[np.float64]:
    """Return the norm of each row, (V,)."""
    return np.sqrt(np.einsum("vr,vr->v", vectors, vectors)).astype(np.float64)


def _ratio(numerators: NDArray[np.float64], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numerators divided by the norms, as a column (V, 1); 0 where the norm is 0."""
    return np.divide(numerators, norms, out=np.zeros_like(norms), where=norms > 0)[:, None]
