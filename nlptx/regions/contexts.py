"""Chooses the context words, and computes their weights.

N-grams are compared by how often the context words occur near them. A context word with the relative frequency f has
the weight

    s f^-0.25,    where s = max(|r| - e, 0) and r = log p(word | class) - log p(word | other classes).

p(word | class) is the fraction of the training texts of the class that contain the word, smoothed by adding 1 to the
number of texts with the word and 1 to the number of texts without it. If a texts of the class and b other texts contain
the word, e = sqrt(1/(a + 1) + 1/(b + 1)), which is about the standard error of r for a rare word, and larger for a
frequent word. With these weights, n-grams have similar vectors if the same opinions are expressed near them, and other
differences between their contexts have little effect. Each class has its own value of s; the s in the weight is the
root mean square of these values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.one_vs_rest import label_matrix
from nlptx.regions.spacing import in_groups

# This many of the most frequent words (at most a tenth of all words) are not used as context words, because they occur
# near all n-grams.
_TOO_FREQUENT = 30
# Maximum number of context words, and minimum number of occurrences of each.
_MAX_CONTEXTS, _MIN_COUNT = 8000, 5
_POWER = 0.25
# Approximate number of words in a group of texts whose words are counted at once.
_WORDS_PER_GROUP = 1 << 20


def context_weights(
    counts: NDArray[np.int64],
    texts: Sequence[NDArray[np.integer]],
    targets: NDArray,
    classes: int,
    text_weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the weight of each word as a context word, (V,); 0 for most words.

    Args:
        counts: (V,) number of occurrences of each word in the texts from which the n-gram vectors are computed.
        texts: word ids of each training text; every text has at least one word.
        targets: (texts,) class of each training text; for multi-label texts, (texts, C) bool.
        classes: C, the number of classes.
        text_weights: (texts,) weight of each training text, or None.
    """
    first = min(_TOO_FREQUENT, len(counts) // 10)
    order = np.argsort(-counts, kind="stable")[first : first + _MAX_CONTEXTS]
    words = order[counts[order] >= _MIN_COUNT]
    result = np.zeros(len(counts))
    strengths = _strengths(words, len(counts), texts, targets, classes, text_weights)
    if not strengths.any():  # there are too few training texts to tell which words indicate a class
        strengths = np.ones(len(words))
    result[words] = strengths * (counts[words] / max(counts.sum(), 1)) ** -_POWER
    return result


def positions_in(words: NDArray[np.int64], size: int) -> NDArray[np.int32]:
    """Return the position in ``words`` of each id from 0 to ``size``; len(words) for ids that are not in ``words``."""
    positions = np.full(size + 1, len(words), np.int32)
    positions[words] = np.arange(len(words))
    return positions


def _strengths(
    words: NDArray[np.int64],
    size: int,
    texts: Sequence[NDArray[np.integer]],
    targets: NDArray,
    classes: int,
    text_weights: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return, for each word, the root mean square of s (see the module docstring) over the classes, (words,).

    ``size`` is the vocabulary size. The other arguments are those of :func:`context_weights`.
    """
    column = positions_in(words, size)
    weights = np.ones(len(targets)) if text_weights is None else text_weights
    weighted_labels = sp.diags(weights) @ label_matrix(targets, classes)  # (texts, C)
    in_class, text_counts = np.zeros((len(words), classes)), np.zeros(len(words))
    row = 0
    for group in in_groups(texts, _WORDS_PER_GROUP):
        columns = column[np.concatenate(group)]
        known = columns < len(words)
        ends = np.cumsum([len(ids) for ids in group])
        starts = np.append(0, np.cumsum(known)[ends - 1])
        present = sp.csr_matrix((np.ones(starts[-1]), columns[known], starts), shape=(len(group), len(words))).tocsc()
        present.sum_duplicates()
        present.data[:] = 1
        rows = slice(row, row + len(group))
        in_class += (present.T @ weighted_labels[rows]).toarray()
        text_counts += present.T @ weights[rows]
        row += len(group)
    rest, total = text_counts[:, None] - in_class, np.asarray(weighted_labels.sum(axis=0)).ravel()
    ratio = np.log((in_class + 1) / (total + 2)) - np.log((rest + 1) / (weights.sum() - total + 2))
    error = np.sqrt(1 / (in_class + 1) + 1 / (rest + 1))
    return np.sqrt((np.maximum(np.abs(ratio) - error, 0) ** 2).mean(axis=1))
