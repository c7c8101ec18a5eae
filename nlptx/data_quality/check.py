"""Checks labelled data: computes its profile and finds its faults."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nlptx.data_quality.copies import find_copies
from nlptx.data_quality.findings import Finding
from nlptx.data_quality.kinds import KINDS
from nlptx.data_quality.label_errors import likely_wrong
from nlptx.data_quality.labelled_rows import LabelledRows
from nlptx.data_quality.near_duplicates import similar_pairs
from nlptx.data_quality.out_of_fold import out_of_fold_probabilities
from nlptx.data_quality.profile import Profile, profile
from nlptx.data_quality.rows import DataRows
from nlptx.data_quality.text_faults import find_text_faults
from nlptx.data_quality.words import FOR_MODELS, find_words
from nlptx.errors import DataError
from nlptx.evaluation.label_spellings import match_labels
from nlptx.evaluation.labelled_data import LabelledData
from nlptx.evaluation.labelled_predictions import LabelledPredictions
from nlptx.runtime.workers import Workers
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.sampling.same_texts import first_same
from nlptx.settings import SEED, SIMILARITY

# A note is printed if more than this fraction of the labels is listed as probably wrong.
_MANY_WRONG = 0.2
OnProgress = Callable[[str, float], None]


@dataclass(frozen=True)
class Check:
    """The result of :func:`check`.

    Args:
        profile: the profile of the data.
        findings: the faults that were found, in the order of KINDS. Kinds without any fault are left out.
        rows: the data rows, followed by the test rows, if any. The findings contain indices into ``rows``.
    """

    profile: Profile
    findings: list[Finding]
    rows: DataRows

    def number_of(self, kind: str) -> int:
        """Return the number of rows with a fault of this kind."""
        if kind == "unreadable-rows":
            return self.profile.unreadable
        return next((len(finding) for finding in self.findings if finding.kind == kind), 0)


def check(
    rows: DataRows,
    workers: Workers,
    against: DataRows | None = None,
    similarity: float = SIMILARITY,
    predict: Callable[[LabelledData], LabelledPredictions] | None = None,
    cross_fit: bool = True,
    seed: int = SEED,
    on_progress: OnProgress = lambda step, fraction: None,
    on_note: Callable[[str], None] = lambda note: None,
) -> Check:
    """Find the faults of labelled data.

    Args:
        rows: the data.
        workers: pool of threads or processes; the number of workers does not change the result.
        against: test data, which should have no text in common with ``rows``; None if there is no test data.
        similarity: minimum Jaccard similarity at which two texts are reported as nearly the same.
        predict: function that returns predictions with probabilities for the rows that have a text and a label, or for
            some of them. The predictions must come from a model that was not trained on these rows. If there are
            several predictions for a row, their mean is used. If ``predict`` is None, no predictions are used.
        cross_fit: whether to compute out-of-fold probabilities with n-gram models. If ``predict`` is given too, the
            check uses the geometric mean of the out-of-fold and the predicted probability, which finds wrong labels
            better than either of them alone.
        seed: seed for the assignment of texts to folds.
        on_progress: called with the name of a step and its completed fraction.
        on_note: called with a note if the data does not allow a search for probably wrong labels, if ``predict`` uses
            other labels than the data, or if the list of probably wrong labels is not reliable.

    Raises:
        DataError: there are too many distinct words, or the predictions have no probabilities.
    """
    both = rows if against is None else rows.followed_by(against)
    texts = both.texts
    words = find_words(texts, workers, lambda done: on_progress("reading words", done / len(texts)))
    data_words = words.take(np.arange(len(rows)))
    first = first_same(texts)
    distinct = np.flatnonzero((first == np.arange(len(texts))) & (words.lengths > 0))
    pairs = similar_pairs(
        words, distinct, similarity, workers, lambda fraction: on_progress("near-duplicates", fraction)
    )
    findings = [
        *find_text_faults(rows, data_words),
        *find_copies(both, first, len(rows), pairs),
    ]
    labelled = LabelledRows.of(rows)
    if len(labelled.indices):
        given = None if predict is None else _respelled(predict(labelled.data(rows)), labelled.label_names)
        # Sorted, because a model whose labels are ordered lists them in their order.
        same_labels = given is None or sorted(given.label_names) == labelled.label_names
        out_of_fold = None
        if cross_fit and not same_labels:
            on_note(
                "the labels of the model and of the data differ, so probably wrong labels are found with the model"
                " alone, without n-gram models"
            )
        elif cross_fit and not labelled.obstacle:
            out_of_fold = _cross_fit(rows, labelled, workers, seed, on_progress)
        if given is not None:
            findings.append(_by_predictions(rows, labelled, given, out_of_fold))
        elif out_of_fold is not None:
            findings.append(
                likely_wrong(labelled.targets, out_of_fold, labelled.label_names, labelled.indices, rows.separator)
            )
        else:
            on_note(f"wrong labels were not searched for: {labelled.obstacle}")
    by_kind = {finding.kind: finding for finding in findings if len(finding)}
    wrong = len(by_kind.get("wrong-labels", ()))
    if wrong > _MANY_WRONG * len(labelled.indices):
        on_note(
            f"{wrong:,} of {len(labelled.indices):,} labels are listed as probably wrong, but many of them are probably"
            " correct, because models predict these labels badly; do not leave out all listed rows, and correct only"
            " labels that you have checked yourself"
        )
    ordered = [by_kind[kind] for kind in KINDS if kind in by_kind]
    return Check(profile(rows, data_words.lengths), ordered, both)


def _respelled(given: LabelledPredictions, names: list[str]) -> LabelledPredictions:
    """Return predictions with their labels spelled as in the data, whose labels are ``names``."""
    matches = match_labels(names, given.label_names) or {}
    spelling = {label: name for name, label in matches.items()}
    if len(spelling) < len(matches):  # the data has two labels that the model has as one
        return given
    return replace(given, label_names=[spelling.get(name, name) for name in given.label_names])


def _by_predictions(
    rows: DataRows, labelled: LabelledRows, given: LabelledPredictions, out_of_fold: NDArray[np.float64] | None
) -> Finding:
    """Return the labels that are probably wrong, according to the given predictions and out-of-fold probabilities.

    The columns of ``out_of_fold``, if it is not None, are for the same labels as those of the predictions.
    """
    if given.probabilities is None:
        raise DataError(
            "the predictions have no probabilities", where=given.source, hint="Add a column prob_LABEL for each label."
        )
    row_of = {id(document): row for row, document in enumerate(rows.documents)}
    indices, first, position, times = np.unique(
        [row_of[id(document)] for document in given.documents],
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    mean = np.zeros((len(indices), len(given.label_names)))  # mean over all predictions for each row
    np.add.at(mean, position, given.probabilities)
    mean /= times[:, None]
    probabilities = mean
    if out_of_fold is not None:
        columns = [labelled.label_names.index(name) for name in given.label_names]
        out_of_fold = out_of_fold[np.isin(labelled.indices, indices)][:, columns]
        probabilities = np.sqrt(mean * out_of_fold)
        if labelled.targets.ndim == 1:
            probabilities /= np.maximum(probabilities.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        else:
            probabilities /= probabilities + np.sqrt((1 - mean) * (1 - out_of_fold)) + np.finfo(float).tiny
    return likely_wrong(given.targets[first], probabilities, given.label_names, indices, rows.separator)


def _cross_fit(
    rows: DataRows, labelled: LabelledRows, workers: Workers, seed: int, on_progress: OnProgress
) -> NDArray[np.float64]:
    texts = [rows.documents[row].text for row in labelled.indices.tolist()]
    return out_of_fold_probabilities(
        find_words(texts, workers, tokenizer=FOR_MODELS),
        labelled.targets,
        len(labelled.label_names),
        generator(seed, Stream.FOLDS),
        workers,
        lambda fraction: on_progress("probably wrong labels", fraction),
    )
