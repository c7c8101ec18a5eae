"""Finds labels that are probably wrong, by confident learning (Northcutt, Jiang & Chuang 2021).

The threshold t_j of label j is the mean probability of j among the texts with this label. The confident label of a text
is the most probable of the labels j whose probability is at least the threshold t_j, provided that j is more probable
than the given label; otherwise, it is the given label. The number n of wrong labels is estimated as the number of texts
whose confident label differs from the given label (the off-diagonal part of the confident joint). Among the texts whose
given label is not the most probable label, the n texts with the lowest probability of the given label (self-confidence)
are listed, the lowest first. In experiments, this rule found more wrong labels than listing all texts whose confident
label differs from the given label.

In multi-label data, each label is examined separately, as two classes: yes and no. All texts for which the confident
class of a label differs from the given class are listed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.data_quality.findings import Finding

# Minimum number of texts per label. Rarer labels are not examined: a model cannot learn them, so it would predict
# another label for each of their texts.
MIN_TEXTS = 5


def likely_wrong(
    targets: NDArray,
    probabilities: NDArray[np.float64],
    label_names: list[str],
    rows: NDArray[np.int64],
    separator: str | None = None,
) -> Finding:
    """Return the texts whose labels are probably wrong, the most suspicious text first.

    Args:
        targets: (N,) int64 class of each text; for multi-label data, (N, C) bool, True where a text has a label.
        probabilities: (N, C) predicted probability of each class, by a model that was not trained on the text.
        label_names: names of the C labels.
        rows: (N,) index of each text among the data rows.
        separator: for multi-label data, the string between the suggested labels of a text.
    """
    if targets.ndim == 2:
        return _wrong_sets(targets, probabilities, label_names, rows, separator or "")
    self_confidence = probabilities[np.arange(len(targets)), targets]
    examined = np.bincount(targets, minlength=len(label_names))[targets] >= MIN_TEXTS
    expected = int(np.sum((confident_class(targets, probabilities) != targets) & examined))
    best = probabilities.argmax(axis=1)
    listed = np.flatnonzero((best != targets) & examined)
    listed = listed[np.argsort(self_confidence[listed], kind="stable")][:expected]
    suggested = [label_names[label] for label in best[listed].tolist()]
    return Finding("wrong-labels", rows[listed], scores=1 - self_confidence[listed], suggested=suggested)


def confident_class(targets: NDArray[np.int64], probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the confident class of each text, (N,).

    The confident class is the given class, unless a more probable class reaches its own threshold.

    Args:
        targets: (N,) given class of each text.
        probabilities: (N, C) predicted probability of each class, by a model that was not trained on the text.
    """
    count, classes = probabilities.shape
    sizes = np.bincount(targets, minlength=classes)
    self_confidence = probabilities[np.arange(count), targets]
    thresholds = np.where(sizes, np.bincount(targets, self_confidence, classes) / np.maximum(sizes, 1), np.inf)
    confident = np.where(probabilities >= thresholds, probabilities, -1.0)
    best = confident.argmax(axis=1)
    better = probabilities[np.arange(count), best] > self_confidence
    return np.where((confident.max(axis=1) >= 0) & better, best, targets)


def _wrong_sets(
    targets: NDArray[np.bool_],
    probabilities: NDArray[np.float64],
    label_names: list[str],
    rows: NDArray[np.int64],
    separator: str,
) -> Finding:
    wrong = np.zeros(targets.shape, bool)
    for label, (given, p) in enumerate(zip(targets.T, probabilities.T, strict=True)):
        if MIN_TEXTS <= given.sum() <= len(given) - MIN_TEXTS:
            wrong[:, label] = confident_class(given.astype(np.int64), np.stack([1 - p, p], axis=1)) != given
    self_confidence = np.where(wrong, np.where(targets, probabilities, 1 - probabilities), 1.0).min(axis=1)
    listed = np.flatnonzero(wrong.any(axis=1))
    listed = listed[np.argsort(self_confidence[listed], kind="stable")]
    suggested = [
        separator.join(name for name, has in zip(label_names, targets[row] ^ wrong[row], strict=True) if has)
        for row in listed.tolist()
    ]
    return Finding("wrong-labels", rows[listed], scores=1 - self_confidence[listed], suggested=suggested)
