"""Computes the vectors of regions, which are an input of the filters in :mod:`nlptx.regions.classifier`.

The vector of a region is the concatenation of four vectors. The first is the sum of the vectors of the n-grams in the
region, scaled to unit norm. The others are the word vectors of its bag: the word at the position of the region and the
next two words, in the order of the text. The n-grams show what the region is about. The word vectors are concatenated
instead of summed, so they also show the order of the words.

Axis letters: N regions, G known n-grams, W known words. The vector of an n-gram has K components, that of a word D
components, and that of a region R = K + BAG D components.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.regions.region_ngrams import RegionNgrams, rows_of

# Number added to the squared norm of the sum of the n-gram vectors, to avoid a division by 0 in a region without a
# known n-gram.
_EPSILON = 1e-6


class Regions(NamedTuple):
    """The regions at all positions of B texts, or at some of the positions.

    Args:
        bags: (N, BAG) indices of the words in the bag of each region; an unknown word, or a word that is left out, has
            an index >= W.
        ngram_vectors: (N, K) sum of the vectors of the n-grams of each region, scaled to unit norm.
        counts: (B,) number of regions of each of the B texts, at least 1.
    """

    bags: NDArray[np.int32]
    ngram_vectors: NDArray
    counts: NDArray[np.integer]


def regions_of(ngrams: RegionNgrams, table: NDArray, texts: Sequence[NDArray[np.integer]]) -> Regions:
    """Return the regions at all positions of texts.

    Args:
        ngrams: known n-grams.
        table: (G, K) vectors of the n-grams.
        texts: word ids (T,) of each text, T >= 1.
    """
    lengths = np.array([len(ids) for ids in texts])
    return regions_at(ngrams, table, ngrams.find(np.concatenate(texts), lengths), lengths)


def regions_at(
    ngrams: RegionNgrams, table: NDArray, ngram_indices: NDArray[np.int32], lengths: NDArray[np.integer]
) -> Regions:
    """Return the same as :func:`regions_of`, given the n-grams of the texts.

    Args:
        ngrams: known n-grams.
        table: (G, K) vectors of the n-grams.
        ngram_indices: (N, ORDER) for each word of the texts, the indices of the n-grams that end there, from
            :meth:`RegionNgrams.find`.
        lengths: (B,) number of words in each text.
    """
    vectors = ngrams.sums_around(table, ngram_indices, lengths)
    vectors /= np.sqrt(np.einsum("nk,nk->n", vectors, vectors) + table.dtype.type(_EPSILON))[:, None]
    return Regions(ngrams.bags(ngram_indices, lengths), vectors, lengths)


def region_vectors(regions: Regions, word_vectors: NDArray) -> NDArray:
    """Return the vectors (N, R) of regions, given the word vectors (W, D)."""
    of_bags = rows_of(word_vectors, regions.bags.ravel()).reshape(len(regions.bags), -1)  # (N, BAG D)
    return np.concatenate([regions.ngram_vectors, of_bags], axis=1)
