"""Counts how many texts contain each n-gram, in total and by class, in bounded memory.

Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.feature_settings import OnProgress, step_counter
from nlptx.ngrams.occurrence_blocks import OccurrenceBlocks
from nlptx.ngrams.occurrences import NgramSets, count_in_range, key_ranges
from nlptx.ngrams.sorted_keys import counts_of, union_of_sorted
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers

# Number of bytes of memory that counting needs per key.
_BYTES_PER_KEY = 32
# Maximum number of ranges into which the keys are divided for counting. The number of ranges is limited because all
# keys are read once for each range.
_MAX_RANGES = 100
# As soon as the number of n-grams found exceeds ``max_ngrams`` times this factor, the rare ones are left out, before
# further ranges are counted.
_PRUNE_ABOVE = 2
# The sorted keys of n-grams, the number of labelled texts that contain each n-gram, and the number of all texts that
# contain it.
Counts = tuple[NDArray[np.int64], NDArray, NDArray]


@dataclass(frozen=True)
class KnownNgrams:
    """The n-grams that occur in enough texts; see :func:`find_known`.

    Args:
        keys: (G,) sorted keys.
        text_counts: (G,) number of texts, with and without labels, that contain each n-gram, or the sum of their
            weights.
        min_texts: minimum number of labelled texts that must contain an n-gram: ``min_labelled``, or the higher value
            to which :func:`find_known` raised it.
    """

    keys: NDArray[np.int64]
    text_counts: NDArray
    min_texts: int


def find_known(
    labelled_sets: Sequence[NgramSets],
    unlabelled_sets: Sequence[NgramSets],
    text_weights: NDArray[np.float64] | None,
    min_labelled: int,
    min_total: int,
    max_ngrams: int | None,
    workers: Workers,
    memory: int,
    on_progress: OnProgress = lambda step, fraction, detail: None,
) -> KnownNgrams:
    """Return the n-grams in at least ``min_labelled`` labelled texts, or in at least ``min_total`` texts in total.

    Args:
        labelled_sets: distinct n-grams of the texts with labels.
        unlabelled_sets: distinct n-grams of the texts without labels.
        text_weights: (texts,) weight of each labelled text, or None.
        min_labelled: minimum number of labelled texts that contain an n-gram.
        min_total: minimum number of texts, labelled and unlabelled together. An n-gram that reaches this minimum is
            returned even if it occurs in no labelled text.
        max_ngrams: maximum number of n-grams, or None. If there are more n-grams, ``min_labelled`` is raised.
        workers: pool of threads or processes; its size does not change the result.
        memory: number of bytes of memory to use for counting; it does not change the result.
        on_progress: callback for progress; see OnProgress.
    """
    keys = sum(int(group.sizes.sum()) for group in [*labelled_sets, *unlabelled_sets])
    ranges = -(-keys * _BYTES_PER_KEY * (workers.jobs + 1) // max(memory // 2, 1))
    ranges = max(workers.jobs, min(ranges, _MAX_RANGES))

    def count(bounds: tuple[int, float]) -> Counts:
        """Count the n-grams in a range of keys. The minimum may be raised meanwhile, which only saves memory."""
        labelled, others = (
            count_in_range(labelled_sets, text_weights, bounds),
            count_in_range(unlabelled_sets, None, bounds),
        )
        every = union_of_sorted(labelled[0], others[0])
        with_label = counts_of(every, *labelled)
        total = with_label + counts_of(every, *others)
        kept = (with_label >= min_labelled) | (total >= min_total)
        return every[kept], with_label[kept], total[kept]

    parts: list[Counts] = []
    report = step_counter("frequent n-grams", ranges, on_progress, "parts")
    for part in counted(workers.map(count, key_ranges([*labelled_sets, *unlabelled_sets], ranges)), report, every=1):
        parts.append(part)
        if max_ngrams is not None and sum(len(keys) for keys, _, _ in parts) > _PRUNE_ABOVE * max_ngrams:
            min_labelled, left = _leave_out_rare(_joined(parts), min_labelled, min_total, max_ngrams)
            parts = [left]
    joined = _joined(parts)
    if max_ngrams is not None:
        min_labelled, joined = _leave_out_rare(joined, min_labelled, min_total, max_ngrams)
    return KnownNgrams(joined[0], joined[2], min_labelled)


def _joined(parts: list[Counts]) -> Counts:
    keys, with_label, total = zip(*parts, strict=True)
    return np.concatenate(keys), np.concatenate(with_label), np.concatenate(total)


def _leave_out_rare(counts: Counts, min_labelled: int, min_total: int, max_ngrams: int) -> tuple[int, Counts]:
    """Raise ``min_labelled`` until at most ``max_ngrams`` n-grams are left.

    N-grams in at least ``min_total`` texts are kept even if there are more than ``max_ngrams`` of them. Return the new
    minimum and the n-grams that are left.

    The n-grams are counted in ranges of keys. To save memory, this function is called not only after the last range,
    but also after earlier ones. The final result is the same: because later n-grams can only raise the minimum, any
    n-gram that is left out early would be left out at the end too.
    """
    keys, with_label, total = counts
    rare = with_label[total < min_total]
    room = max(max_ngrams - (len(keys) - len(rare)), 0)
    if room < len(rare):
        min_labelled = max(min_labelled, int(np.partition(rare, -room - 1)[-room - 1]) + 1)
    kept = (with_label >= min_labelled) | (total >= min_total)
    return min_labelled, (keys[kept], with_label[kept], total[kept])


def class_counts(
    blocks: OccurrenceBlocks,
    targets: NDArray,
    classes: int,
    weights: NDArray[np.float64],
    fold: NDArray[np.int64],
    folds: int,
) -> NDArray[np.float64]:
    """Return the number (or total weight) of the texts that contain each n-gram, by fold and class, (folds, G, C).

    If a text may have any number of classes, the result has the shape (folds, G, C + 1): the last column counts all
    texts of the fold that contain the n-gram.

    Args:
        blocks: matrix (texts, G), which is 1 where a text contains an n-gram and 0 elsewhere.
        targets: (texts,) class of each text, or (texts, C), True where a text has a class.
        classes: C, the number of classes.
        weights: (texts,) weight of each text.
        fold: (texts,) fold of each text.
        folds: number of folds.
    """
    independent = targets.ndim == 2
    width = classes + independent

    def weighted_targets(rows: slice) -> NDArray[np.float64]:
        row_weights = weights[rows, None]
        if independent:
            flags = np.hstack([targets[rows], np.ones((len(row_weights), 1), bool)]) * row_weights
        else:
            flags = (targets[rows, None] == np.arange(classes)) * row_weights
        result = np.zeros((len(row_weights), folds, width))
        result[np.arange(len(row_weights)), fold[rows]] = flags
        return result.reshape(len(row_weights), -1)

    total = blocks.transposed(weighted_targets, folds * width)
    return np.ascontiguousarray(total.reshape(-1, folds, width).transpose(1, 0, 2))
