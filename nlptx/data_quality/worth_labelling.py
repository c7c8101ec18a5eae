"""Chooses the unlabelled texts that are most worth labelling: those that a model is most uncertain about.

A text is uncertain if its two most probable labels have nearly the same probability (margin sampling: Scheffer,
Decomain and Wrobel 2001). Texts that resemble a chosen one are left out, because their labels would say little new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.data_quality.labelled_rows import LabelledRows
from nlptx.data_quality.out_of_fold import fit_probabilities, ngram_rows
from nlptx.data_quality.rows import Rows
from nlptx.data_quality.same_texts import first_same
from nlptx.data_quality.words import find_words
from nlptx.errors import DataError
from nlptx.runtime.workers import Workers

# A text resembles another if the cosine of their n-gram rows is at least this.
_SIMILAR = 0.5
# Number of candidates that are compared with the chosen texts together.
_COMPARED = 256


@dataclass(frozen=True)
class WorthLabelling:
    """Texts without a label, the one most worth labelling first.

    Args:
        rows: (N,) their indices among the labelled rows followed by the unlabelled ones.
        labels: most probable label of each; with sets of labels, all labels that are more probable than not.
        probabilities: (N,) probability of this label; with sets of labels, of the least certain decision.
    """

    rows: NDArray[np.int64]
    labels: list[tuple[str, ...]]
    probabilities: NDArray[np.float64]


def worth_labelling(
    rows: Rows,
    unlabelled: Rows | None,
    count: int,
    workers: Workers,
    predict: Callable[[list[str]], tuple[list[str], NDArray[np.float64]]] | None = None,
) -> WorthLabelling:
    """Choose up to ``count`` of the texts without a label.

    Args:
        rows: labelled data; its rows without a label are candidates too.
        unlabelled: texts whose labels, if there are any, are ignored; None for none.
        count: maximum number of texts.
        workers: threads to use; they do not change the result.
        predict: function that returns the labels, and the probabilities (B, C) of the labels of texts. If None, the
            probabilities come from the n-gram model of :mod:`.out_of_fold`, fitted on the labelled rows. Then texts
            without any n-gram of the labelled rows are no candidates, because nothing is known about them.

    Raises:
        DataError: every text has a label, or there are too few labelled texts to fit a model.
    """
    labelled = LabelledRows.of(rows)
    every = rows if unlabelled is None else rows.followed_by(unlabelled)
    texts = every.texts
    words = find_words(texts, workers)
    is_candidate = (first_same(texts) == np.arange(len(texts))) & (words.lengths > 0)
    is_candidate[labelled.indices] = False
    if not is_candidate.any():
        raise DataError("there is no text without a label", hint="Name texts without labels with `unlabelled`.")
    ngrams = ngram_rows(words)
    candidates = np.flatnonzero(is_candidate)
    if predict is not None:
        names, probabilities = predict([texts[row] for row in candidates.tolist()])
    else:
        if labelled.obstacle:
            raise DataError(f"no model can be fitted on the labelled texts: {labelled.obstacle}")
        names = labelled.label_names
        known = np.zeros(ngrams.shape[1], bool)
        known[ngrams[labelled.indices].indices] = True
        has_known = np.asarray(ngrams[candidates] @ known.astype(np.float32)).ravel() > 0
        candidates = candidates[has_known]
        probabilities = _probabilities(ngrams, labelled, candidates)
    chosen = choose(probabilities, ngrams[candidates], count, sets=rows.sets)
    of_chosen = probabilities[chosen]
    if rows.sets:
        sure = np.where(of_chosen > 0.5, of_chosen, 1 - of_chosen).min(axis=1, initial=1)
        labels = [tuple(name for name, p in zip(names, row, strict=True) if p > 0.5) for row in of_chosen.tolist()]
    else:
        sure, labels = of_chosen.max(axis=1, initial=0), [(names[best],) for best in of_chosen.argmax(axis=1).tolist()]
    return WorthLabelling(candidates[chosen], labels, sure)


def _probabilities(ngrams: sp.csr_matrix, labelled: LabelledRows, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
    return fit_probabilities(ngrams[labelled.indices], labelled.targets, len(labelled.label_names), ngrams[candidates])


def choose(
    probabilities: NDArray[np.float64], ngrams: sp.csr_matrix, count: int, *, sets: bool = False
) -> NDArray[np.int64]:
    """Return the indices of the most uncertain texts, the most uncertain first, without texts that resemble each other.

    Args:
        probabilities: (B, C) probabilities of the labels of each text.
        ngrams: (B, G) n-gram rows of the texts.
        count: maximum number of indices. Texts that resemble a chosen one are used only if there are no others.
        sets: whether a text may have any number of labels.
    """
    order = np.argsort(margins(probabilities, sets=sets), kind="stable")
    squares = np.asarray(ngrams.multiply(ngrams).sum(axis=1)).ravel()
    unit = (sp.diags_array(1 / np.sqrt(np.maximum(squares, 1e-30))) @ ngrams).tocsr()
    chosen: list[int] = []
    left_out: list[int] = []
    for start in range(0, len(order), _COMPARED):
        if len(chosen) >= count:
            break
        group = order[start : start + _COMPARED]
        rows = unit[group]
        with_chosen = np.zeros(len(group), bool)
        if chosen:
            with_chosen = (rows @ unit[chosen].T).max(axis=1).toarray().ravel() >= _SIMILAR
        among = (rows @ rows.T).toarray() >= _SIMILAR
        kept = np.zeros(len(group), bool)
        for place in range(len(group)):
            kept[place] = not with_chosen[place] and not (among[place] & kept).any()
        chosen += group[kept].tolist()
        left_out += group[~kept].tolist()
    return np.array((chosen + left_out)[:count], np.int64)


def margins(probabilities: NDArray[np.float64], *, sets: bool = False) -> NDArray[np.float64]:
    """Return how certain the prediction of each text is, (B,), from 0 to 1: the lead of the most probable label.

    With sets of labels, it is that of the least certain decision about a label.
    """
    if sets:
        return np.asarray(np.abs(2 * probabilities - 1).min(axis=1))
    best = np.partition(probabilities, -2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])
