"""Chooses the n-grams that a model knows, finds them in the texts, and computes the LSA components."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.feature_settings import (
    FeatureSettings,
    OnProgress,
    has_enough_ngrams,
    min_texts_for_components,
    step_counter,
)
from nlptx.ngrams.importance import importance, unit_norm
from nlptx.ngrams.lexicon import LexiconPrior
from nlptx.ngrams.lsa import TextComponents, find_components
from nlptx.ngrams.ngram_ids import ColumnIndex, count_encoded, encode_ngrams
from nlptx.ngrams.occurrences import (
    NgramSets,
    divide_by_root,
    document_frequencies,
    matrix_from_columns,
    ngrams_in_enough_texts,
    ngrams_of_texts,
    presence_matrix,
    sizes_of,
    words_of,
)
from nlptx.runtime.allocator import return_freed_memory
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers

# The texts are considered long if the median number of distinct n-grams per text is at least this value. A sentence has
# about 50 distinct n-grams, a review about 500.
_NGRAMS_OF_LONG_TEXTS = 200


class TextRows(NamedTuple):
    """Matrices of the labelled texts, and the LSA components of all texts.

    Args:
        known: (G,) sorted known n-grams.
        importance: (G,) float32 importance of each n-gram (see :mod:`nlptx.ngrams.lsa`); 0 for n-grams that the LSA
            components do not use.
        scaled: (texts, G) float32 matrix that is 1 / sqrt(T) where a text of T words contains an n-gram, and 0
            elsewhere.
        lexicon_feature: (texts, 1) lexicon feature of each text (see :mod:`nlptx.ngrams.lexicon`), or None.
        rows: (texts, n-grams with an importance above 0) float32 matrix with the importance of each n-gram that a text
            contains; each row is scaled to unit norm.
        components: LSA components of the texts with enough n-grams (see :func:`.feature_settings.has_enough_ngrams`),
            labelled texts first; None if no components are computed.
        row_of: (texts,) row of each text in ``components``; -1 for a text with too few n-grams.
    """

    known: NDArray[np.int64]
    importance: NDArray[np.float32]
    scaled: sp.csr_matrix
    lexicon_feature: sp.csr_matrix | None
    rows: sp.csr_matrix
    components: TextComponents | None
    row_of: NDArray[np.intp]


def text_rows(
    labelled: RaggedArray,
    unlabelled: Sequence[NDArray[np.integer]],
    settings: FeatureSettings,
    rng: np.random.Generator,
    workers: Workers,
    on_progress: OnProgress,
    text_weights: NDArray[np.float64] | None,
    lexicon: LexiconPrior | None,
    budget: MemoryBudget,
) -> TextRows:
    """Choose the known n-grams, and compute the matrices and the LSA components.

    Args:
        labelled: word ids of the labelled texts.
        unlabelled: word ids of the texts without labels; not read if no components are computed.
        settings: settings of the features.
        rng: source of randomness for the initial vectors of the power iteration.
        workers: pool of threads or processes; its size does not change the result.
        on_progress: callback for progress; see OnProgress.
        text_weights: (texts,) weight of each labelled text, or None.
        lexicon: prior of the weights of the ratio model, or None.
        budget: memory limit; it does not change the result.
    """
    texts, words = len(labelled), words_of(labelled)
    total_counted = texts + (len(unlabelled) if settings.components else 0)
    on_count = step_counter("counting n-grams", total_counted, on_progress)
    sets = ngrams_of_texts(counted(labelled, on_count), settings.order, settings.words, workers, budget)
    lexicon_feature = None if lexicon is None else lexicon.rows(sets, labelled)
    counts = document_frequencies(sets, text_weights, workers)
    if not settings.components:
        frequent = counts[0][counts[1] >= settings.min_texts]
        scaled = divide_by_root(presence_matrix(_look_up(sets, on_progress), frequent, workers), words)
        ngram_importance, no_columns = np.zeros(len(frequent), np.float32), sp.csr_matrix((texts, 0), dtype=np.float32)
        return TextRows(frequent, ngram_importance, scaled, lexicon_feature, no_columns, None, np.full(texts, -1))
    unlabelled_sets = ngrams_of_texts(
        counted(unlabelled, on_count, texts), settings.order, settings.words, workers, budget
    )
    sizes = sizes_of([*sets, *unlabelled_sets])
    others = len(sizes) - texts
    # A text without a label has a weight of 1.
    total = others + (texts if text_weights is None else text_weights.sum())
    min_total = min_texts_for_components(total)
    # An n-gram in fewer than `low` labelled texts is used only if many unlabelled texts contain it.
    low = min(settings.min_texts, min_total)
    listed = counts[0][counts[1] >= low]
    encoded = encode_ngrams(_look_up([*sets, *unlabelled_sets], on_progress), listed, workers, budget)
    encoded_labelled, encoded_unlabelled = encoded[: len(sets)], encoded[len(sets) :]
    del sets, unlabelled_sets
    other_counts = count_encoded(encoded_unlabelled, listed, min_total - low + 1, workers)
    known, text_counts = ngrams_in_enough_texts(counts, other_counts, settings.min_texts, min_total)
    del counts, other_counts
    ngram_importance = importance(text_counts, total, min_total, long=bool(np.median(sizes) >= _NGRAMS_OF_LONG_TEXTS))
    important = ngram_importance > 0
    scaled = divide_by_root(
        matrix_from_columns(encoded_labelled, ColumnIndex(listed, known).find, len(known), workers), words
    )
    index = ColumnIndex(listed, known[important])
    rows = matrix_from_columns(
        encoded, index.find, int(important.sum()), workers, unit_norm(ngram_importance[important])
    )
    used = has_enough_ngrams(sizes)
    del encoded, encoded_labelled, encoded_unlabelled, index
    return_freed_memory()
    row_of = np.where(used, np.cumsum(used) - 1, -1)[:texts]
    report = partial(on_progress, "components of texts (LSA)")
    used_weights = None if text_weights is None else np.append(text_weights, np.ones(others))[used]
    used_rows = rows if used.all() else rows[used]
    components = find_components(used_rows, settings.components, rng, workers, report, used_weights)
    return TextRows(known, ngram_importance, scaled, lexicon_feature, rows[:texts], components, row_of)


def unit_rows(
    sets: Sequence[NgramSets], known: NDArray[np.int64], ngram_importance: NDArray[np.float32], workers: Workers
) -> sp.csr_matrix:
    """Return a matrix with one row per text; a row contains the importance of each n-gram in its text.

    Each row is scaled to unit norm. N-grams with an importance of 0 have no column.
    """
    important = ngram_importance > 0
    return presence_matrix(sets, known[important], workers, unit_norm(ngram_importance[important]))


def _look_up(sets: Sequence[NgramSets], on_progress: OnProgress) -> Iterable[NgramSets]:
    """Yield the groups of texts, and report the progress of looking up their n-grams."""
    return counted(sets, step_counter("looking up n-grams", len(sets), on_progress, "groups of texts"), every=1)
