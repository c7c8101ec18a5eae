"""Naive-Bayes evidence of word n-grams: for each place of a text, how strongly the words there speak for a class.

For an n-gram found in n_c training texts of class c, and in n_r of the rest, the log-count ratio is

    r = log((n_c + 1) / sum (n_c + 1)) - log((n_r + 1) / sum (n_r + 1)),

the sums going over all n-grams (Wang & Manning 2012, "Baselines and Bigrams"). A training text must not
see its own label in these numbers, or the network learns to trust them blindly: the training texts are cut
into folds, and the ratios a text sees are counted without its fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# N-grams found in fewer texts are left out.
MIN_TEXTS = 2
FOLDS = 10
# Keys are products of word ids, so this keeps a trigram's below 2^63.
LARGEST_VOCABULARY = 2_000_000


def ngram_keys(ids: NDArray[np.integer], order: int, words: int) -> NDArray[np.int64]:
    """Return (T, order) int64: in column n - 1 the key of the n-gram that ends at each place; -1 where none does.

    Args:
        ids: (T,) word ids of a text.
        order: longest n-gram.
        words: V. Keys of different n do not collide: those of n-grams start at V + ... + V^(n-1).
    """
    keys = np.full((len(ids), order), -1, np.int64)
    key = np.zeros(len(ids), np.int64)
    offset = 0
    for n in range(1, order + 1):
        # The key so far, of the n-1 words before, moves one place on and takes in the word here.
        key = np.concatenate([key[:0], ids]) if n == 1 else key[:-1] * words + ids[n - 1 :]
        if not len(key):
            break
        keys[n - 1 :, n - 1] = key + offset
        offset += words**n
    return keys


@dataclass(frozen=True)
class NgramRatios:
    """Log-count ratios by n-gram.

    Args:
        order: longest n-gram.
        words: V.
        keys: (G,) int64, sorted, see :func:`ngram_keys`.
        ratios: (G, E) float32: E is 1 for two classes (the second against the first), else C (each against the rest).
    """

    order: int
    words: int
    keys: NDArray[np.int64]
    ratios: NDArray[np.float32]

    @property
    def width(self) -> int:
        """Number of features of each place."""
        return self.order * self.ratios.shape[1]

    def features(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return (T, order E): the ratios of the n-grams that end at each place; 0 for unknown ones."""
        keys = ngram_keys(ids, self.order, self.words)
        return look_up(keys, self.keys, self.ratios).reshape(len(ids), self.width)


def look_up(keys: NDArray[np.int64], known: NDArray[np.int64], ratios: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (*keys.shape, E): the ratios of each key; 0 where it is not among the sorted ``known``."""
    if not len(known):
        return np.zeros((*keys.shape, ratios.shape[1]), np.float32)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    found: NDArray[np.float32] = ratios[place] * (known[place] == keys)[..., None]
    return found


def evidence_width(classes: int) -> int:
    """Return E, the ratios per n-gram."""
    return 1 if classes == 2 else classes


def fit_ratios(
    texts: Sequence[NDArray[np.integer]],
    targets: NDArray[np.int64],
    classes: int,
    order: int,
    words: int,
    rng: np.random.Generator,
) -> tuple[NgramRatios, list[NDArray[np.float32]]]:
    """Count the n-grams of labelled texts.

    Args:
        texts: (T,) word ids of each training text.
        targets: (texts,) class of each.
        classes: C.
        order: longest n-gram.
        words: V.
        rng: deals the texts into folds.

    Returns:
        the ratios from all texts, for texts not among these; and for each of these its features (T, order E),
        counted without the texts of its fold.
    """
    folds = min(FOLDS, len(texts))
    fold = rng.permutation(len(texts)) % folds
    keys = [ngram_keys(ids, order, words) for ids in texts]
    distinct = [np.unique(part[part >= 0]) for part in keys]
    lengths = np.array([len(part) for part in distinct])
    known, place, seen = np.unique(np.concatenate(distinct), return_inverse=True, return_counts=True)
    frequent = seen >= MIN_TEXTS
    renumber = np.cumsum(frequent) - 1
    cell = np.repeat(fold * classes + targets, lengths)
    kept = frequent[place]
    cells = folds * classes
    size = int(frequent.sum())
    counts = np.bincount(renumber[place[kept]] * cells + cell[kept], minlength=size * cells)
    by_fold = counts.reshape(size, folds, classes)
    total = by_fold.sum(axis=1)
    known = known[frequent]
    features: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * len(texts)
    for number in range(folds):
        ratios = _ratios(total - by_fold[:, number])
        for row in np.flatnonzero(fold == number):
            features[int(row)] = look_up(keys[int(row)], known, ratios).reshape(len(texts[int(row)]), -1)
    return NgramRatios(order, words, known, _ratios(total)), features


def _ratios(counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Turn (G, C) counts of texts into (G, E) log-count ratios; 0 for n-grams now too rare to be known."""
    with_class = counts[:, 1:] if counts.shape[1] == 2 else counts
    rest = counts.sum(axis=1, keepdims=True) - with_class
    p, q = with_class + 1.0, rest + 1.0
    ratios = np.log(p / p.sum(axis=0)) - np.log(q / q.sum(axis=0))
    ratios[counts.sum(axis=1) < MIN_TEXTS] = 0
    return ratios.astype(np.float32)
