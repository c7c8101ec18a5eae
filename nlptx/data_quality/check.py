"""Checks labelled data: its profile and all findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.label_sets import find_label_sets
from nlptx.data_quality.copies import find_copies, find_near_copies
from nlptx.data_quality.findings import KINDS, Finding
from nlptx.data_quality.label_errors import MIN_TEXTS, likely_wrong
from nlptx.data_quality.near_duplicates import similar_pairs
from nlptx.data_quality.out_of_fold import out_of_fold_probabilities
from nlptx.data_quality.profile import Profile, profile
from nlptx.data_quality.rows import Rows
from nlptx.data_quality.same_texts import first_same
from nlptx.data_quality.text_faults import find_text_faults
from nlptx.data_quality.words import TextWords, find_words
from nlptx.runtime.workers import Workers
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import SEED

# Default of the minimum Jaccard similarity of near-duplicates.
SIMILARITY = 0.8
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True)
class Check:
    """The result of :func:`check`.

    Args:
        profile: the profile of the data.
        findings: the faults that were found, in the order of KINDS; kinds without a fault are left out.
        rows: the rows of the data, followed by those of the other data, to which findings refer.
        count: number of rows that are not of the other data.
    """

    profile: Profile
    findings: list[Finding]
    rows: Rows
    count: int

    def number_of(self, kind: str) -> int:
        """Return the number of rows with a fault of a kind."""
        if kind == "unreadable-rows":
            return self.profile.unreadable
        return next((len(finding) for finding in self.findings if finding.kind == kind), 0)


@dataclass(frozen=True)
class LabelledRows:
    """The rows that have a text and a label, and their labels as numbers.

    Args:
        indices: (N,) indices of the rows.
        targets: (N,) int64 class of each text; or (N, C) bool, whether it has each label.
        label_names: names of the C labels, sorted.
    """

    indices: NDArray[np.int64]
    targets: NDArray
    label_names: list[str]

    @classmethod
    def of(cls, rows: Rows) -> LabelledRows:
        """Select the rows that have a text and a label."""
        pairs = zip(rows.texts, rows.labels, strict=True)
        indices = [row for row, (text, labels) in enumerate(pairs) if labels is not None and text.strip()]
        labels = [rows.labels[row] or () for row in indices]
        names = sorted({label for each in labels for label in each})
        if rows.sets:
            return cls(np.array(indices, np.int64), find_label_sets(labels, names), names)
        number = {name: place for place, name in enumerate(names)}
        return cls(np.array(indices, np.int64), np.array([number[each[0]] for each in labels], np.int64), names)

    @property
    def obstacle(self) -> str:
        """Why no model can be fitted on the rows, or an empty string."""
        if self.targets.ndim == 2:
            with_label = self.targets.sum(axis=0)
            enough = ((with_label >= MIN_TEXTS) & (len(self.targets) - with_label >= MIN_TEXTS)).any()
            return "" if enough else f"this needs a label that {MIN_TEXTS} texts have and {MIN_TEXTS} do not have"
        enough = np.sum(np.bincount(self.targets, minlength=1) >= MIN_TEXTS) >= 2
        return "" if enough else f"this needs two labels with {MIN_TEXTS} texts each"


def check(
    rows: Rows,
    workers: Workers,
    against: Rows | None = None,
    similarity: float = SIMILARITY,
    probabilities: Callable[[LabelledRows], NDArray[np.float64]] | None = None,
    seed: int = SEED,
    on_progress: OnProgress = lambda step, fraction: None,
    on_note: Callable[[str], None] = lambda note: None,
) -> Check:
    """Find the faults of labelled data.

    Args:
        rows: the data.
        workers: threads or processes to use; they do not change the result.
        against: other data, such as test data, which should have no text in common with the data.
        similarity: minimum Jaccard similarity of texts that are nearly the same.
        probabilities: function that returns the probabilities of the labels of each labelled row, (N, C), from a model
            that did not see the row. By default they come from n-gram models that are fitted out of fold.
        seed: seed for the folds.
        on_progress: called with the name of a step and its completed fraction.
        on_note: called with a note if likely wrong labels cannot be searched for.

    Raises:
        DataError: there are too many distinct words.
    """
    both = rows if against is None else rows.followed_by(against)
    texts = both.texts
    words = find_words(texts, workers, lambda done: on_progress("reading words", done / len(texts)))
    own_words = words.take(np.arange(len(rows)))
    first = first_same(texts)
    distinct = np.flatnonzero((first == np.arange(len(texts))) & (words.lengths > 0))
    pairs = similar_pairs(
        words, distinct, similarity, workers, lambda fraction: on_progress("near-duplicates", fraction)
    )
    findings = [
        *find_text_faults(rows, own_words),
        *find_copies(both, first, len(rows)),
        *find_near_copies(both, pairs, len(rows)),
    ]
    labelled = LabelledRows.of(rows)
    if len(labelled.indices) and not labelled.obstacle:
        p = (
            _cross_fit(own_words, labelled, workers, seed, on_progress)
            if probabilities is None
            else probabilities(labelled)
        )
        findings.append(likely_wrong(labelled.targets, p, labelled.label_names, labelled.indices))
    elif len(labelled.indices):
        on_note(f"likely wrong labels are not searched for: {labelled.obstacle}")
    found = {finding.kind: finding for finding in findings if len(finding)}
    ordered = [found[kind] for kind in KINDS if kind in found]
    return Check(profile(rows, own_words.lengths), ordered, both, len(rows))


def _cross_fit(
    words: TextWords, labelled: LabelledRows, workers: Workers, seed: int, on_progress: OnProgress
) -> NDArray[np.float64]:
    return out_of_fold_probabilities(
        words.take(labelled.indices),
        labelled.targets,
        len(labelled.label_names),
        generator(seed, Stream.FOLDS),
        workers,
        lambda fraction: on_progress("likely wrong labels", fraction),
    )
