"""Stratified folds for cross-validation: the texts of each label are spread evenly over the folds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import DataError, SettingsError
from nlptx.sampling.copies import folds_with_copies
from nlptx.sampling.splits import shuffled_stretches

# Number of parts that make up a sample of whole groups. With more parts, the sample is closer to the requested size,
# but its label fractions are less exact.
_PARTS_PER_SAMPLE = 10


def stratified_folds(
    strata: NDArray[np.int64],
    folds: int,
    rng: np.random.Generator,
    *,
    shuffle: bool = False,
    first: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Return the fold of each text, (texts,), counted from 0.

    Stretches of consecutive texts with the same label stay together, because such texts are often related (see
    :mod:`nlptx.sampling.splits`). A label with n texts has about n / folds texts in each fold.

    Args:
        strata: (texts,) integer from 0 that identifies the label of each text.
        folds: number of folds.
        rng: source of randomness.
        shuffle: whether to assign individual texts to folds, instead of stretches of neighbouring texts.
        first: (texts,) for each text, the index of the first text equal to it; None if all texts are different. Equal
            texts are in the same fold; see :func:`.copies.folds_with_copies`.

    Raises:
        DataError: there are fewer texts than folds.
        SettingsError: there are fewer than two folds.
    """
    _check(folds, len(strata), "texts")
    if first is not None:
        return folds_with_copies(first, folds, lambda rows: stratified_folds(strata[rows], folds, rng, shuffle=shuffle))
    result = np.empty(len(strata), np.int64)
    start = 0
    for label in np.unique(strata):
        rows = np.flatnonzero(strata == label)
        position = rng.permutation(len(rows)) if shuffle else shuffled_stretches(len(rows), 1 / folds, rng)
        # Start with the fold after the last fold of the previous label; otherwise the first folds would get all the
        # texts of labels that occur once.
        result[rows] = (start + position) % folds
        start += int(position.max()) + 1
    return result


def grouped_folds(
    strata: NDArray[np.int64], groups: Sequence[str], folds: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the fold of each text, (texts,), counted from 0. Texts of the same group are in the same fold.

    The groups are assigned one after the other, the largest first. Each group goes to the fold that so far contains the
    smallest fraction of the texts with the group's labels.

    Args:
        strata: (texts,) integer from 0 that identifies the label of each text.
        groups: name of the group of each text, such as a film or an author.
        folds: number of folds.
        rng: source of randomness.

    Raises:
        DataError: there are fewer groups than folds.
        SettingsError: there are fewer than two folds.
    """
    _, group_of = np.unique(np.asarray(groups, object).astype(str), return_inverse=True)
    count, labels = int(group_of.max(initial=-1)) + 1, int(strata.max(initial=0)) + 1
    _check(folds, count, "groups")
    sizes = np.zeros((count, labels))
    np.add.at(sizes, (group_of, strata), 1)
    per_text = 1 / np.maximum(sizes.sum(axis=0), 1)
    fractions = sizes * per_text
    assigned = np.zeros((folds, labels))
    fold_of_group = np.empty(count, np.int64)
    order = rng.permutation(count)
    for group in order[np.argsort(-sizes.sum(axis=1)[order], kind="stable")]:
        # The sum of (fraction of the label's texts that are in the fold)^2 over labels and folds is smallest if all
        # these fractions are equal. Let the vectors a and g have one entry per label: the fraction of the label's texts
        # that are in the fold (a) or in the group (g). Adding the group to the fold increases the sum by 2 a·g + g·g,
        # in which only a·g depends on the fold.
        added = assigned @ fractions[group]
        best = np.flatnonzero(np.isclose(added, added.min(), rtol=1e-9, atol=1e-15))
        fold = int(best[assigned[best].sum(axis=1).argmin()])
        fold_of_group[group] = fold
        assigned[fold] += fractions[group]
    return fold_of_group[group_of]


def sample_groups(
    strata: NDArray[np.int64], groups: Sequence[str], count: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Return the indices of at most ``count`` texts: whole groups, with about the same label fractions as all texts.

    The groups are divided into small parts with about equal label fractions (:func:`grouped_folds`). In random order,
    each part is added to the sample if it still fits.

    Args:
        strata: (texts,) integer from 0 that identifies the label of each text.
        groups: name of the group of each text.
        count: maximum number of texts.
        rng: source of randomness.
    """
    parts = min(len(set(groups)), math.ceil(_PARTS_PER_SAMPLE * len(groups) / count))
    if parts < 2:
        return np.arange(len(groups) if len(groups) <= count else 0)
    part = grouped_folds(strata, groups, parts, rng)
    sizes = np.bincount(part, minlength=parts)
    chosen, total = np.zeros(parts, bool), 0
    for number in rng.permutation(parts).tolist():
        if total + sizes[number] <= count:
            chosen[number], total = True, total + int(sizes[number])
    return np.flatnonzero(chosen[part])


def _check(folds: int, count: int, what: str) -> None:
    if folds < 2:
        raise SettingsError(f"`folds` is {folds}; expected at least 2")
    if count < folds:
        hint = f"Set `folds` to {count} or less." if count >= 2 else ""
        raise DataError(f"there are {count:,} {what} for {folds} folds; expected at least one in each fold", hint=hint)
