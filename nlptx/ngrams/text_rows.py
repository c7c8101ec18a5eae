"""The known n-grams of labelled and unlabelled texts, the matrices of their occurrences, and the LSA components."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.io.spill import MemoryBudget
from nlptx.ngrams.feature_settings import FeatureSettings, OnProgress, is_long, min_texts_of_components, step_counter
from nlptx.ngrams.lsa import TextComponents, find_components, importance, unit_length
from nlptx.ngrams.numbered import NumberIndex, count_numbered, number_ngrams
from nlptx.ngrams.occurrences import (
    NgramSets,
    count_occurrences,
    frequent_ngrams,
    ngrams_of_texts,
    presence,
    rows_of_columns,
    sizes_of,
)
from nlptx.runtime.allocator import return_freed_memory
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers


class TextRows(NamedTuple):
    """Matrices of the T labelled texts, and the components of all texts.

    Args:
        known: (G,) sorted known n-grams.
        importance: (G,) float32 importance of each n-gram for the components.
        presence: (T, G) float32 matrix that is 1 where a text contains an n-gram.
        rows: (T, n-grams with an importance) float32 matrix of the importance of each n-gram of a text, in which each
            row has the length 1.
        components: LSA components of the long texts, labelled texts first; None if there are none.
        row_of: (T,) row of each text in the components; -1 for a text that is too short for them.
    """

    known: NDArray[np.int64]
    importance: NDArray[np.float32]
    presence: sp.csr_matrix
    rows: sp.csr_matrix
    components: TextComponents | None
    row_of: NDArray[np.intp]


def text_rows(
    sets: list[NgramSets],
    unlabelled: Iterable[NDArray[np.integer]],
    shape: FeatureSettings,
    rng: np.random.Generator,
    workers: Workers,
    on_progress: OnProgress,
    text_weights: NDArray[np.float64] | None,
    budget: MemoryBudget,
) -> TextRows:
    """Find the known n-grams, and compute the matrices and the components.

    Args:
        sets: n-grams of the labelled texts.
        unlabelled: word ids of the texts without labels; not read if there are no components.
        shape: settings of the features.
        rng: source of randomness for the initial vectors of the power iteration.
        workers: threads to use; they do not change the result.
        on_progress: callback for progress; see OnProgress.
        text_weights: (T,) weight of each labelled text, or None.
        budget: memory limit; it does not change the result.
    """
    texts = len(sizes_of(sets))
    labelled = count_occurrences(sets, text_weights, workers)
    if not shape.components:
        frequent = labelled[0][labelled[1] >= shape.min_texts]
        contained = presence(_look_up(sets, on_progress), frequent, workers)
        none = sp.csr_matrix((texts, 0), dtype=np.float32)
        return TextRows(frequent, np.zeros(len(frequent), np.float32), contained, none, None, np.full(texts, -1))
    more = ngrams_of_texts(unlabelled, shape.order, shape.words, workers, budget)
    sizes = sizes_of([*sets, *more])
    others = len(sizes) - texts
    total = others + (texts if text_weights is None else text_weights.sum())  # texts without a label have weight 1
    min_texts = min_texts_of_components(total)
    # N-grams in fewer labelled texts are known only if they occur in many other texts.
    low = min(shape.min_texts, min_texts)
    listed = labelled[0][labelled[1] >= low]
    numbered = number_ngrams(_look_up([*sets, *more], on_progress), listed, workers, budget)
    del more
    unlabelled_counts = count_numbered(numbered[len(sets) :], listed, min_texts - low + 1, workers)
    known, seen = frequent_ngrams(labelled, unlabelled_counts, shape.min_texts, min_texts)
    del labelled
    weights = importance(seen, total, min_texts)
    important = weights > 0
    contained = rows_of_columns(numbered[: len(sets)], NumberIndex(listed, known).find, len(known), workers)
    index = NumberIndex(listed, known[important])
    rows = rows_of_columns(numbered, index.find, int(important.sum()), workers, unit_length(weights[important]))
    long = is_long(sizes)
    del numbered
    return_freed_memory()
    row_of = np.where(long, np.cumsum(long) - 1, -1)[:texts]
    report = partial(on_progress, "components of texts (LSA)")
    of_long = None if text_weights is None else np.append(text_weights, np.ones(others))[long]
    of_labelled = rows[:texts]
    rows = rows if long.all() else rows[long]
    components = find_components(rows, shape.components, rng, workers, report, of_long)
    return TextRows(known, weights, contained, of_labelled, components, row_of)


def unit_rows(
    sets: Sequence[NgramSets], known: NDArray[np.int64], weights: NDArray[np.float32], workers: Workers
) -> sp.csr_matrix:
    """Return a matrix with one row per text, which contains the importance of each n-gram of the text.

    Each row is scaled to length 1. N-grams of importance 0 have no column.
    """
    important = weights > 0
    return presence(sets, known[important], workers, unit_length(weights[important]))


def _look_up(sets: Sequence[NgramSets], on_progress: OnProgress) -> Iterable[NgramSets]:
    """Iterate over groups of texts, and report progress."""
    return counted(sets, step_counter("looking up n-grams", len(sets), on_progress, "groups of texts"), every=1)
