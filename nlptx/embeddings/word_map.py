"""A two-dimensional map of word vectors: groups of similar words, and a position for each word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings.embeddings import Embeddings

# Groups are chosen from the most frequent quarter of the vocabulary, but from at least 4 * STOP_WORDS and at most
# MAX_WORDS words, because the vectors of rare words are noisy. Of these, the STOP_WORDS most frequent words (but at
# most a tenth) are left out, because they carry little meaning.
MAX_WORDS, STOP_WORDS = 3000, 100
# English function words, which occur in all contexts. A group of function words would say nothing about the corpus.
# Function words are always left out, because in a small corpus the STOP_WORDS most frequent words do not include all of
# them.
_FUNCTION_WORDS = """
    about above actually after again against all almost along already also although always among and another any anyone
    anything are around away back because been before behind being below beside between beyond both but came can cannot
    come could did does doing done down during each either else enough even ever every everyone everything exactly far
    few for from further gave get gets getting give given gives goes going gone got had has have having her here hers
    herself him himself his how however into its itself just keep keeps kept let made make makes making many may maybe
    might more most much must my myself near nearly neither never nobody none nor not nothing now off often once one
    only onto other others our ours out over own perhaps put quite rather really same see seem seemed seems several
    shall she should since some somebody someone something somehow sometimes soon still such take takes than that the
    their theirs them themselves then there these they thing things this those though through throughout till together
    too took toward towards turn turned turns under until upon used uses very want was way well went were what whatever
    when where whether which while who whole whom whose why will with within without would yes yet you your yours
    yourself
"""

# In a small corpus, only the leading principal components are more than noise. Therefore the number of components used
# is the number of candidate words (see _content_words) divided by _WORDS_PER_COMPONENT, but at least _MIN_COMPONENTS.
_WORDS_PER_COMPONENT, _MIN_COMPONENTS = 16, 8
# By default, the number of words in a group is the number of candidate words divided by _WORDS_PER_MEMBER, but at least
# _MIN_SIZE and at most _MAX_SIZE.
_WORDS_PER_MEMBER, _MIN_SIZE, _MAX_SIZE = 40, 5, 12


def word_groups(embeddings: Embeddings, groups: int = 20, size: int | None = None) -> list[list[int]]:
    """Choose groups of frequent words with similar vectors, starting with the group whose words are the most similar.

    Each group consists of a word and its nearest neighbours. Each further group is chosen to be compact and far from
    the previous groups; otherwise a single kind of word, such as names of people, could fill the map.

    Args:
        embeddings: the word vectors.
        groups: maximum number of groups.
        size: number of words per group; by default, it depends on the number of frequent words. Groups are smaller if
            there are not enough words.

    Returns:
        The word ids of each group. The first word of a group is its central word.
    """
    ids = _content_words(embeddings)
    size = size or min(max(len(ids) // _WORDS_PER_MEMBER, _MIN_SIZE), _MAX_SIZE)
    unit = _centred(embeddings, ids)
    cosines = unit @ unit.T
    free = np.arange(len(ids))
    near_others = np.zeros(len(ids))
    result = []
    for _ in range(groups):
        if not len(free):
            break
        free_cosines = cosines[np.ix_(free, free)]
        size = min(size, len(free))
        tightness = np.partition(free_cosines, len(free) - size, axis=1)[:, -size:].mean(axis=1)
        middle = (tightness - near_others[free]).argmax()
        group = free[np.argsort(-free_cosines[middle], kind="stable")[:size]]
        result.append(ids[group].tolist())
        centre = unit[group].mean(axis=0)
        near_others = np.maximum(near_others, unit @ centre / (np.linalg.norm(centre) or 1))
        free = np.setdiff1d(free, group)
    return result


def _content_words(embeddings: Embeddings) -> NDArray[np.int64]:
    """Return the ids of the frequent words that consist of three or more letters and are not stop words.

    If none of the frequent words qualifies, return the ids of all frequent words.
    """
    words = embeddings.vocabulary.words
    words = words[: min(MAX_WORDS, max(len(words) // 4, 4 * STOP_WORDS))]
    first = min(STOP_WORDS, len(words) // 10)
    left_out = set(_FUNCTION_WORDS.split())
    alphabetic = [
        index
        for index, word in enumerate(words)
        if index >= first and word.isalpha() and len(word) > 2 and word not in left_out
    ]
    return np.array(alphabetic or range(len(words)))


def _centred(embeddings: Embeddings, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the vectors of the words ``ids``, scaled to unit norm, centred, and scaled to unit norm again.

    If the vectors were made by PCA, only their leading components are used.
    """
    vectors = embeddings.vectors
    if len(embeddings.eigenvalues):  # the vectors were made by PCA, so their components are in order of importance
        vectors = vectors[:, : max(len(_content_words(embeddings)) // _WORDS_PER_COMPONENT, _MIN_COMPONENTS)]
    unit = _unit(vectors[ids].astype(np.float64))
    return _unit(unit - unit.mean(axis=0))


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


def plane_positions(embeddings: Embeddings, ids: list[int], steps: int = 300) -> NDArray[np.float64]:
    r"""Return positions (n, 2) for the n words ``ids``.

    The distance between two positions approximates 1 - cosine of the two word vectors. The method is multidimensional
    scaling by majorisation, starting from the first two principal components. Each step decreases the stress
    \sum_{i<j} w_ij (d_ij - |x_i - x_j|)^2, where d_ij is 1 - cosine but at least 0.01, x_i is a position, and the
    weight w_ij is 1/d_ij^2, so that close pairs have the largest weights.

    Source: de Leeuw (1977), "Applications of convex analysis to multidimensional scaling".
    """
    unit = _centred(embeddings, np.array(ids))
    targets = np.maximum(1 - unit @ unit.T, 0.01)
    weights = _laplacian(1 / targets**2)
    inverse = np.linalg.pinv(weights, hermitian=True)
    left, values, _ = np.linalg.svd(unit, full_matrices=False)
    positions = np.zeros((len(ids), 2))
    positions[:, : len(values)] = (left * values)[:, :2]
    for _ in range(steps):
        distances = np.linalg.norm(positions[:, None] - positions, axis=2)
        positions = inverse @ (_laplacian(1 / (targets * np.maximum(distances, 1e-9))) @ positions)
    return positions


def _laplacian(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the Laplacian matrix of the given weights: it equals -weights off the diagonal, and each row sums to 0."""
    off = weights - np.diag(np.diag(weights))
    return np.diag(off.sum(axis=1)) - off
