"""Training targets: the classes of single-label texts, (texts,) int64, or of multi-label texts, (texts, C) bool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.label_sets import find_label_sets

# Targets of single-label or of multi-label texts.
Targets = NDArray


def encode_targets(names: Sequence[str], labels: Sequence[str], separator: str | None) -> Targets:
    """Return the targets of texts.

    Args:
        names: label name of each text, or its label names joined by the separator.
        labels: names of the C labels.
        separator: string between two labels of a text; None if every text has one label.
    """
    if separator is not None:
        return find_label_sets([split_names(name, separator) for name in names], labels)
    class_of = {label: number for number, label in enumerate(labels)}
    return np.array([class_of[name] for name in names], np.int64)


def split_names(joined: str, separator: str | None) -> tuple[str, ...]:
    """Return the separate label names of a text."""
    if separator is None:
        return (joined,)
    return tuple(joined.split(separator)) if joined else ()


def count_labels(
    targets: Targets, classes: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return the number of texts with each label, (C,), or the sum of the ``weights`` (texts,) of these texts."""
    if targets.ndim == 1:
        return np.bincount(targets, weights, classes)
    return targets.sum(axis=0) if weights is None else weights @ targets


def strata(targets: Targets, share: float) -> NDArray[np.int64]:
    """Return the stratum of each text, (texts,), for a split that holds out a fraction ``share`` of each stratum.

    With one label per text, the strata are the classes. If texts may have several labels, a text belongs to the stratum
    of its rarest label, so that some texts with rare labels are held out too. Strata of which no text would be held
    out, because they are too small, are merged into one stratum, which also contains the texts without labels.
    """
    if targets.ndim == 1:
        return targets.astype(np.int64, copy=False)
    classes = targets.shape[1]
    rarest_first = np.argsort(targets.sum(axis=0), kind="stable")
    rarest = rarest_first[targets[:, rarest_first].argmax(axis=1)]
    stratum = np.where(targets.any(axis=1), rarest, classes)
    sizes = np.bincount(stratum, minlength=classes + 1)
    held_out = np.round(share * sizes) >= 1
    return np.where(held_out, np.arange(classes + 1), classes)[stratum]
