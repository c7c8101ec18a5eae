"""A map of word vectors: groups of similar words, and a position in the plane for each word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings.embeddings import Embeddings

# Groups consist of words among the AMONG most frequent, at most a quarter of all, because vectors of rare words are
# noisy. The COMMONEST most frequent words are left out, because they carry little meaning.
AMONG, COMMONEST = 3000, 100


def word_groups(embeddings: Embeddings, groups: int = 20, size: int = 12) -> list[list[int]]:
    """Choose groups of frequent words that lie close together, the tightest first.

    Each group is a word with its nearest neighbours. The next group is chosen to be tight and far from the previous
    groups, so that names of people, for example, do not fill the map.

    Args:
        embeddings: the word vectors.
        groups: maximum number of groups.
        size: words per group; fewer if there are not enough.

    Returns:
        Word ids of each group, the central word first.
    """
    ids = _content_words(embeddings)
    unit = _centred(embeddings, ids)
    cosines = unit @ unit.T
    free = np.arange(len(ids))
    near_others = np.zeros(len(ids))
    found = []
    for _ in range(groups):
        if not len(free):
            break
        among = cosines[np.ix_(free, free)]
        size = min(size, len(free))
        tightness = np.partition(among, len(free) - size, axis=1)[:, -size:].mean(axis=1)
        middle = (tightness - near_others[free]).argmax()
        group = free[np.argsort(-among[middle], kind="stable")[:size]]
        found.append(ids[group].tolist())
        centre = unit[group].mean(axis=0)
        near_others = np.maximum(near_others, unit @ centre / (np.linalg.norm(centre) or 1))
        free = np.setdiff1d(free, group)
    return found


def _content_words(embeddings: Embeddings) -> NDArray[np.int64]:
    """Return the ids of frequent alphabetic words except the commonest; if there are none, the ids of any words."""
    words = embeddings.vocabulary.words
    words = words[: min(AMONG, max(len(words) // 4, 4 * COMMONEST))]
    first = min(COMMONEST, len(words) // 10)
    of_letters = [place for place, word in enumerate(words) if place >= first and word.isalpha() and len(word) > 2]
    return np.array(of_letters or range(len(words)))


def _centred(embeddings: Embeddings, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the unit vectors of these words minus their mean, normalised to length 1."""
    unit = _unit(embeddings.vectors[ids].astype(np.float64))
    return _unit(unit - unit.mean(axis=0))


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def plane_positions(embeddings: Embeddings, ids: list[int], steps: int = 300) -> NDArray[np.float64]:
    r"""Return positions (n, 2) in the plane whose distances approximate 1 - cosine of the words ``ids``.

    Multidimensional scaling by majorisation (de Leeuw 1977): from the first two principal components, each step
    lowers the stress \sum_{i<j} w_ij (d_ij - |x_i - x_j|)^2, where w = 1/d^2, so that neighbours count most.
    """
    unit = _centred(embeddings, np.array(ids))
    wanted = np.maximum(1 - unit @ unit.T, 0.01)
    weights = _laplacian(1 / wanted**2)
    inverse = np.linalg.pinv(weights, hermitian=True)
    left, values, _ = np.linalg.svd(unit, full_matrices=False)
    positions = np.zeros((len(ids), 2))
    positions[:, : len(values)] = (left * values)[:, :2]
    for _ in range(steps):
        apart = np.linalg.norm(positions[:, None] - positions, axis=2)
        positions = inverse @ (_laplacian(1 / (wanted * np.maximum(apart, 1e-9))) @ positions)
    return positions


def _laplacian(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the matrix with -w off the diagonal and rows that sum to 0."""
    off = weights - np.diag(np.diag(weights))
    return np.diag(off.sum(axis=1)) - off
