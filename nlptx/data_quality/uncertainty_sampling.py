"""Uncertainty sampling: suggests which texts to label next, namely those about which a model is least certain.

A text is uncertain if its two most probable labels have nearly the same probability (margin sampling: Scheffer,
Decomain and Wrobel 2001). Texts that resemble a chosen text are chosen only if no other texts are left, because their
labels would add little information.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.classifier.decision import Decision, MultiLabelDecision, SingleLabelDecision
from nlptx.classifier.label_sets import DEFAULT_SEPARATOR
from nlptx.data_quality.labelled_rows import LabelledRows
from nlptx.data_quality.out_of_fold import fit_probabilities, ngram_rows
from nlptx.data_quality.rows import DataRows
from nlptx.data_quality.words import FOR_MODELS, find_words
from nlptx.errors import DataError
from nlptx.runtime.workers import Workers
from nlptx.sampling.same_texts import first_same

# Two texts resemble each other if the cosine of their rows in the n-gram matrix is at least this value.
_SIMILAR = 0.5
# Number of candidates that are compared with the chosen texts at a time.
_COMPARED = 256


@dataclass(frozen=True)
class SuggestedTexts:
    """The texts that should be labelled next, the most informative first.

    Args:
        rows: (N,) indices of the texts in the concatenation of ``rows`` and ``unlabelled``, the arguments of
            :func:`suggest_texts`.
        labels: predicted labels of each text; exactly one for single-label data.
        probabilities: (N,) probability of the predicted label; for multi-label data, which needs one decision per
            label, the probability that the least certain decision is correct.
        obstacle: reason why no texts are suggested, or an empty string.
    """

    rows: NDArray[np.int64]
    labels: list[tuple[str, ...]]
    probabilities: NDArray[np.float64]
    obstacle: str = ""


# Function that is called with B texts, and returns the names of the C labels, their probabilities (B, C), and the
# decision rule.
Predict = Callable[[list[str]], tuple[list[str], NDArray[np.float64], Decision]]


def check_possible(rows: DataRows, unlabelled: DataRows | None, *, has_model: bool) -> None:
    """Raise DataError if every text has a label, or if no model is supplied and none can be fitted.

    Args:
        rows: labelled data.
        unlabelled: texts without labels, or None.
        has_model: whether a model supplied by the caller computes the probabilities. Otherwise, a model must be fitted.
    """
    if unlabelled is None and None not in rows.labels:
        raise DataError("there is no text without a label", hint="Use `unlabelled` to add texts without labels.")
    if not has_model and (obstacle := LabelledRows.of(rows).obstacle):
        raise DataError(f"no model can be fitted on the labelled texts: {obstacle}")


def suggest_texts(
    rows: DataRows, unlabelled: DataRows | None, count: int, workers: Workers, predict: Predict | None = None
) -> SuggestedTexts:
    """Choose up to ``count`` of the texts without a label.

    Args:
        rows: labelled data; its rows without a label are candidates too.
        unlabelled: additional candidates, or None. Any labels of these texts are ignored.
        count: maximum number of texts.
        workers: pool of threads; the number of threads does not change the result.
        predict: function that computes the probabilities. If None, the n-gram model of :mod:`.out_of_fold` is fitted on
            the labelled rows and computes the probabilities. This model knows nothing about texts that have no n-gram
            in common with these rows, so such texts are not candidates.

    Raises:
        DataError: every text has a label, or no model can be fitted.
    """
    check_possible(rows, unlabelled, has_model=predict is not None)
    labelled = LabelledRows.of(rows)
    every = rows if unlabelled is None else rows.followed_by(unlabelled)
    texts = every.texts
    words = find_words(texts, workers, tokenizer=FOR_MODELS)
    first = first_same(texts)
    is_candidate = (first == np.arange(len(texts))) & (words.lengths > 0)
    is_candidate[first[labelled.indices]] = False  # a text is not a candidate if a copy of it has a label
    candidates = np.flatnonzero(is_candidate)
    if not len(candidates):
        return _none("every text without a label is empty or a copy of a labelled text")
    ngrams = ngram_rows(words)
    if predict is None:
        known = np.zeros(ngrams.shape[1], bool)
        known[ngrams[labelled.indices].indices] = True
        candidates = candidates[np.asarray(ngrams[candidates] @ known.astype(np.float32)).ravel() > 0]
        if not len(candidates):
            return _none("none of the unlabelled texts has a word in common with the labelled texts")
        names, p, decision = _fitted(ngrams, labelled, candidates)
    else:
        names, p, decision = predict([texts[row] for row in candidates.tolist()])
    chosen = choose(margins(p, decision), ngrams[candidates], count)
    p = p[chosen]
    predicted = decision.choose(p)
    labels = [tuple(names[number] for number in numbers) for numbers in decision.classes(predicted)]
    if isinstance(decision, MultiLabelDecision):
        return SuggestedTexts(candidates[chosen], labels, np.where(predicted, p, 1 - p).min(axis=1))
    return SuggestedTexts(candidates[chosen], labels, decision.confidence(p, predicted))


def _none(obstacle: str) -> SuggestedTexts:
    return SuggestedTexts(np.zeros(0, np.int64), [], np.zeros(0), obstacle)


def _fitted(
    ngrams: sp.csr_matrix, labelled: LabelledRows, candidates: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.float64], Decision]:
    """Fit a model on the labelled rows, and return what a :data:`Predict` function would return for the candidates."""
    names, targets = labelled.label_names, labelled.targets
    p = fit_probabilities(ngrams[labelled.indices], targets, len(names), ngrams[candidates])
    if targets.ndim == 2:
        return names, p, MultiLabelDecision(DEFAULT_SEPARATOR, np.full(len(names), 0.5))
    return names, p, SingleLabelDecision(np.bincount(targets, minlength=len(names)) / len(targets), balanced=False)


def choose(margins: NDArray[np.float64], ngrams: sp.csr_matrix, count: int) -> NDArray[np.int64]:
    """Return the indices of the most uncertain texts that do not resemble each other, the most uncertain first.

    Args:
        margins: (B,) margin of the prediction for each text; see :func:`margins`.
        ngrams: (B, G) rows of the texts in the n-gram matrix; see :func:`.ngram_rows`.
        count: maximum number of indices. If there are not enough texts that do not resemble each other, the indices of
            other texts follow.
    """
    order = np.argsort(margins, kind="stable")
    squares = np.asarray(ngrams.multiply(ngrams).sum(axis=1)).ravel()
    unit = (sp.diags(1 / np.sqrt(np.maximum(squares, 1e-30))) @ ngrams).tocsr()
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
        for index in range(len(group)):
            kept[index] = not with_chosen[index] and not (among[index] & kept).any()
        chosen += group[kept].tolist()
        left_out += group[~kept].tolist()
    return np.array((chosen + left_out)[:count], np.int64)


def margins(p: NDArray[np.float64], decision: Decision) -> NDArray[np.float64]:
    """Return the margin of the prediction for each text, (B,), from 0 (uncertain) to 1 (certain).

    For single-label data, the margin is the difference between the probabilities of the two most probable labels. For
    multi-label data, the margin of a text is the minimum of the margins of all labels. The margin of a label is 0 if
    its probability equals the threshold, and grows linearly to 1 at the probabilities 0 and 1.

    Args:
        p: (B, C) probabilities of the labels.
        decision: rule for choosing labels.
    """
    if isinstance(decision, MultiLabelDecision):
        thresholds = decision.thresholds
        return np.asarray((np.abs(p - thresholds) / np.where(p >= thresholds, 1 - thresholds, thresholds)).min(axis=1))
    best = np.partition(p, -2, axis=1)
    return np.asarray(best[:, -1] - best[:, -2])
