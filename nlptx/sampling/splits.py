"""Splits labelled texts into parts that reveal little about each other.

Consecutive texts of a corpus are often related: reviews of one film, messages of one day. If related texts were in
different parts, a model trained on one part would score better on the other part than on new texts. Therefore each
stretch of consecutive texts stays in one part, and so do the copies of a text (:mod:`nlptx.sampling.copies`). In all
parts, the labels have about the same proportions. When a validation part is split off, stretches are formed separately
among the texts of each label. Stretches are cut only where the proportions require it: at the end of a validation part,
and for a label of which one fold would get far too many texts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.sampling.copies import folds_with_copies

# Maximum length of a stretch, and minimum number of stretches in a part (unless the part has fewer texts).
_MAX_STRETCH = 100
_STRETCHES_PER_PART = 10
# Default number of folds for out-of-fold features. The features of a text are computed by models that were fitted
# without the fold of this text. Without a network, :mod:`nlptx.training.linear_combination` chooses the number of
# folds.
FOLDS = 5
# Each fold should have 1/folds of the texts of a label. If a fold has more than _MAX_EXCESS times as many, the texts of
# the label are divided evenly among the folds.
_MAX_EXCESS = 1.5


def stratified_split(
    targets: NDArray[np.int64], share: float, rng: np.random.Generator, first: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the training part and of the validation part, stratified by class.

    Of a class with n different texts, round(share * n) are held out for validation, but at most n - 1.

    Args:
        targets: (texts,) class of each text.
        share: fraction to hold out, from 0 to 1.
        rng: source of randomness.
        first: (texts,) for each text, the index of the first text equal to it; None if all texts are different.
    """
    held_out = np.zeros(len(targets), bool)
    first = np.arange(len(targets)) if first is None else first
    is_first = first == np.arange(len(targets))
    for label in np.unique(targets[is_first]):
        indices = np.flatnonzero((targets == label) & is_first)
        count = min(round(share * len(indices)), len(indices) - 1)
        order = np.argsort(shuffled_stretches(len(indices), share, rng), kind="stable")
        held_out[indices[order[:count]]] = True
    held_out = held_out[first]
    # The training part may lack a label whose texts are all copies of texts with other labels. In that case, one text
    # with this label is moved to the training part, together with its copies.
    for label in np.setdiff1d(targets, targets[~held_out]):
        held_out[first == first[np.flatnonzero(targets == label)[0]]] = False
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def assign_folds(
    targets: NDArray, parts: int, rng: np.random.Generator, first: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return the fold of each text, (texts,), counted from 0. Each fold has about the same number of texts per label.

    The stretches are shuffled, sorted by their most frequent label, and assigned to the folds in turn. If all texts of
    a rare label are in one or two stretches, for example because the texts are sorted by label, the texts of this label
    are divided evenly among the folds instead.

    If the proportions of the labels differed between the folds, a model fitted without one of the folds would
    underestimate the probabilities of exactly those labels that are frequent in that fold. Out-of-fold features would
    then be misleading.

    Args:
        targets: (texts,) class of each text; for multi-label texts, (texts, C) bool, True where a text has a class.
        parts: number of folds.
        rng: source of randomness.
        first: (texts,) for each text, the index of the first text equal to it; None if all texts are different. Equal
            texts are in the same fold; see :func:`.copies.folds_with_copies`.
    """
    if first is not None:
        return folds_with_copies(first, parts, lambda rows: assign_folds(targets[rows], parts, rng))
    stretch = _stretches(len(targets), 1 / parts)
    order = rng.permutation(stretch[-1] + 1 if len(stretch) else 0)
    order = order[np.argsort(_most_frequent_label(stretch, targets)[order], kind="stable")]
    fold = np.empty(len(order), np.int64)
    fold[order] = np.arange(len(order)) % parts
    text_fold = fold[stretch]
    for rows in _rows_of_labels(targets):
        if np.bincount(text_fold[rows], minlength=parts).max() > max(1, _MAX_EXCESS * len(rows) / parts):
            divided = text_fold.copy()
            divided[rows] = rng.permutation(parts)[np.arange(len(rows)) * parts // len(rows)]
            if len(np.unique(divided)) >= len(np.unique(text_fold)):  # otherwise, a fold would lose all of its texts
                text_fold = divided
    return text_fold


def _rows_of_labels(targets: NDArray) -> list[NDArray[np.intp]]:
    """Return, for each label that occurs, the indices of the texts that have this label."""
    row, label = np.nonzero(targets) if targets.ndim == 2 else (np.arange(len(targets)), targets)
    order = np.argsort(label, kind="stable")
    return np.split(row[order], np.flatnonzero(np.diff(label[order])) + 1) if len(row) else []


def _most_frequent_label(stretch: NDArray[np.int64], targets: NDArray) -> NDArray[np.int64]:
    """Return the most frequent label of each stretch, (stretches,), given the stretch and the target of each text."""
    stretches = stretch[-1] + 1 if len(stretch) else 0
    if targets.ndim == 2:
        row, label = np.nonzero(targets)
        stretch, targets = stretch[row], label
    classes = targets.max(initial=0) + 1
    counts = np.bincount(stretch * classes + targets, minlength=stretches * classes)
    return counts.reshape(stretches, classes).argmax(axis=1)


def training_parts(fold: NDArray[np.int64], folds: int) -> list[NDArray[np.intp]]:
    """Return a list of arrays of text indices: all texts, and then, for each fold, the texts outside that fold.

    Args:
        fold: (texts,) fold of each text.
        folds: number of folds.
    """
    return [np.arange(len(fold)), *(np.flatnonzero(fold != number) for number in range(folds))]


def shuffled_stretches(count: int, share: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Shuffle stretches of texts. Return, for each text, the new position of its stretch, (count,).

    Args:
        count: number of texts.
        share: fraction of all texts that one part of the split contains; the smaller it is, the shorter the stretches.
        rng: source of randomness.
    """
    stretch = _stretches(count, share)
    return rng.permutation(stretch[-1] + 1)[stretch] if count else stretch


def _stretches(count: int, share: float) -> NDArray[np.int64]:
    """Return, for each text, the number of its stretch. For the arguments, see :func:`shuffled_stretches`."""
    length = int(np.clip(share * count / _STRETCHES_PER_PART, 1, _MAX_STRETCH))
    return np.arange(count) // length
