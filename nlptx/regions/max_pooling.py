"""Finds the strongest region of each text for each filter, and computes gradients from only these regions.

Axis letters: B texts, N regions of all texts, F filters, W known words, K terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import scipy.sparse as sp


class WordGradient(NamedTuple):
    """The derivatives of the loss with respect to the word weights, as terms that have to be added up.

    Args:
        indices: (K,) index of each term into the flattened word weights (W F,). Several terms can have the same index.
        values: (K,) the terms. The derivative for an index is the sum of the terms with this index.
    """

    indices: NDArray[np.int64]
    values: NDArray


def strongest(t: NDArray, lengths: NDArray[np.integer]) -> tuple[NDArray, NDArray[np.int64]]:
    """Return the largest response of each filter to each text, and the first row of ``t`` that has it, both (B, F).

    Args:
        t: (N, F) responses of the filters to the regions.
        lengths: (B,) number of regions of each text, at least 1.
    """
    winners = np.empty((len(lengths), t.shape[1]), np.int64)
    start = 0
    for text, length in enumerate(lengths.tolist()):
        t[start : start + length].argmax(axis=0, out=winners[text])
        winners[text] += start
        start += length
    return t[winners, np.arange(t.shape[1])], winners


def response_gradient(dm: NDArray, winners: NDArray[np.int64], regions: int) -> sp.csr_matrix:
    """Return the derivative dt of the loss with respect to the responses t, transposed: a sparse matrix (F, N).

    Args:
        dm: (B, F) derivative with respect to the largest responses.
        winners: (B, F) index of the region that has the largest response.
        regions: N.
    """
    import scipy.sparse as sp  # SciPy is slow to import, and scoring does not need it

    filters, texts = np.nonzero(dm.T)
    starts = np.searchsorted(filters, np.arange(dm.shape[1] + 1))
    return sp.csr_matrix((dm[texts, filters], winners[texts, filters], starts), shape=(dm.shape[1], regions))


def word_gradient(dt: sp.csr_matrix, bags: NDArray[np.int32], words: int) -> WordGradient:
    """Return the derivatives with respect to the word weights: the dt of a region is a term for each word in its bag.

    Args:
        dt: (F, N) result of :func:`response_gradient`.
        bags: (N, BAG) indices of the words in the bag of each region; unknown words have indices of W or more.
        words: W.
    """
    filters = np.repeat(np.arange(dt.shape[0]), np.diff(dt.indptr))[:, None]
    entries = bags[dt.indices]
    known = entries < words
    values = np.broadcast_to(dt.data[:, None], entries.shape)
    return WordGradient((entries * dt.shape[0] + filters)[known], values[known])
