"""N-gram features of many texts, fitted out of fold as in :mod:`nlptx.ngrams.cross_fit`, with little memory per text.

The features have the same meaning as those of :mod:`nlptx.ngrams.cross_fit`. However, the LSA components are computed
in the space of the n-grams (:mod:`nlptx.ngrams.out_of_core_components`), and for the ratio model, the vectors in L-BFGS
have one entry per weight instead of one per text (:mod:`nlptx.ngrams.out_of_core_models`). On one machine, the folds
are processed one after another, and the texts are divided among the workers. On a cluster, the folds are divided among
the workers. Only the numbers of texts and labels determine whether this module is used (with many labels, it is not:
see :mod:`nlptx.ngrams.sparse_cross_fit`), so the memory limit does not change the result.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.example_features import ExampleFeatures, FeatureBatch, batch_of
from nlptx.ngrams.feature_settings import (
    FeatureSettings,
    OnProgress,
    groups_of,
    has_enough_ngrams,
    min_texts_for_components,
    step_counter,
)
from nlptx.ngrams.features import NgramFeatures
from nlptx.ngrams.importance import importance
from nlptx.ngrams.lexicon import LexiconPrior
from nlptx.ngrams.naive_bayes import feature_width
from nlptx.ngrams.occurrence_blocks import OccurrenceBlocks
from nlptx.ngrams.occurrences import NgramSets, ngrams_of_texts, sizes_of
from nlptx.ngrams.out_of_core_components import WeightedRows, find_components_out_of_core
from nlptx.ngrams.out_of_core_counts import class_counts, find_known
from nlptx.ngrams.out_of_core_fold_models import Fitted, FoldModelData, fit_fold_models
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers
from nlptx.sampling.copies import first_copies
from nlptx.sampling.passages import Passage
from nlptx.sampling.splits import assign_folds

# Maximum number of weights of a linear model, which has one weight per n-gram and output. L-BFGS stores 25 numbers for
# each weight. The maximum does not apply if the user sets ``ngram_min_texts``, and n-grams that are frequent enough for
# the LSA components are always kept.
_MAX_WEIGHTS = 1 << 21


def fit_out_of_core(
    texts: RaggedArray,
    targets: NDArray[np.int64] | NDArray[np.bool_],
    settings: FeatureSettings,
    rng: np.random.Generator,
    unlabelled: Sequence[NDArray[np.integer]],
    workers: Workers,
    passages: Sequence[Passage],
    on_progress: OnProgress,
    text_weights: NDArray[np.float64] | None,
    lexicon: LexiconPrior | None,
    budget: MemoryBudget,
) -> tuple[NgramFeatures, ExampleFeatures]:
    """Fit the n-gram features. :func:`.cross_fit.fit_ngram_features` describes the arguments and the result."""
    others = unlabelled if settings.components else []  # only the components use the texts without labels
    on_count = step_counter("counting n-grams", len(texts) + len(others), on_progress)
    sets = ngrams_of_texts(counted(texts, on_count), settings.order, settings.words, workers, budget)
    unlabelled_sets = ngrams_of_texts(
        counted(others, on_count, len(texts)), settings.order, settings.words, workers, budget
    )
    folds = min(settings.folds, len(texts))
    fold = assign_folds(targets, folds, rng, first_copies(texts, settings.capitals_sign))
    width = feature_width(settings.classes, independent=targets.ndim == 2)
    weights = np.ones(len(texts)) if text_weights is None else text_weights
    total = weights.sum() + len(others)
    min_total = min_texts_for_components(total) if settings.components else sys.maxsize
    max_ngrams = _MAX_WEIGHTS // width if settings.may_drop else None
    limits = settings.min_texts, min_total, max_ngrams
    known = find_known(sets, unlabelled_sets, text_weights, *limits, workers, budget.memory, on_progress)
    ngram_importance = np.zeros(len(known.keys), np.float32)
    rows = components = None
    if settings.components:
        ngram_importance = importance(known.text_counts, total, min_total)
        parts = _component_rows(sets, unlabelled_sets, known.keys, ngram_importance, text_weights, workers, budget)
        report = partial(on_progress, "components of texts (LSA)")
        components, rows = find_components_out_of_core(parts, settings.components, rng, workers, report), parts[0]
    blocks = OccurrenceBlocks(sets, known.keys, workers, budget)
    inverse_roots = (1 / np.sqrt(np.maximum(texts.lengths, 1))).astype(np.float32)
    lexicon_feature = None
    if lexicon is not None:
        values = OccurrenceBlocks(sets, lexicon.keys, workers, budget).forward(lexicon.values[:, None])
        lexicon_feature = values * inverse_roots[:, None]
    counts = class_counts(blocks, targets, settings.classes, weights, fold, folds)
    data = FoldModelData(
        blocks,
        inverse_roots,
        targets,
        weights,
        settings,
        known,
        fold,
        counts,
        lexicon_feature,
        lexicon,
        components,
        rows,
        ngram_importance,
    )
    on_model = step_counter("linear models", folds + 1, on_progress, "models")
    on_model(0)
    fitted = counted(_fit_all(data, folds + 1, workers), on_model, already=1, every=1)

    def batches() -> Iterator[FeatureBatch]:
        """Yield the features of the texts of each fold, computed by models that were fitted without this fold."""
        # The range comes first, so that zip does not take the models fitted on all texts, which are used below.
        for number, fold_models in zip(range(folds), fitted, strict=False):
            yield from _features_of_fold(fold_models, texts, fold == number, settings, workers)
            # Every text helps to determine the LSA components, and thus contributes to the outputs for its own
            # passages. The contribution is not subtracted, because with so many texts it is negligible.
            for index, passage in enumerate(passages, len(texts)):
                if fold[passage.text] == number:
                    yield batch_of(
                        fold_models.features,
                        np.array([index]),
                        [passage.ids],
                        0.0,
                        needs_token_features=settings.needs_token_features,
                    )

    example_features = ExampleFeatures.collected(batches(), len(texts) + len(passages), budget)
    return next(fitted).features, example_features


def _fit_all(data: FoldModelData, parts: int, workers: Workers) -> Iterator[Fitted]:
    """Yield, for each fold, the models fitted on all texts outside it, and finally the models fitted on all texts.

    Each of these sets of texts is called a part. On a cluster, every part is a task.
    """
    if workers.store is not None:
        yield from workers.map_shared(fit_fold_models, data.stored(workers.store), range(parts))
    else:
        # The parts are processed one after another, because each needs a lot of memory. The texts of a part are divided
        # among the workers.
        yield from (fit_fold_models(data, part) for part in range(parts))


def _component_rows(
    sets: Sequence[NgramSets],
    unlabelled_sets: Sequence[NgramSets],
    keys: NDArray[np.int64],
    ngram_importance: NDArray[np.float32],
    text_weights: NDArray[np.float64] | None,
    workers: Workers,
    budget: MemoryBudget,
) -> list[WeightedRows]:
    """Return the matrices X of the labelled texts and, if there are any, of the unlabelled texts.

    For X, see :class:`.WeightedRows`. Each column belongs to an n-gram whose importance is above 0.
    """
    important = ngram_importance > 0
    used, texts = has_enough_ngrams(sizes_of([*sets, *unlabelled_sets])), len(sizes_of(sets))

    def rows(some: Sequence[NgramSets], kept: NDArray[np.bool_], weights: NDArray[np.float64] | None) -> WeightedRows:
        blocks = OccurrenceBlocks(some, keys[important], workers, budget)
        return WeightedRows.of(blocks, ngram_importance[important], kept, weights)

    return [
        rows(sets, used[:texts], text_weights),
        *([rows(unlabelled_sets, used[texts:], None)] if unlabelled_sets else []),
    ]


def _features_of_fold(
    fitted: Fitted, texts: RaggedArray, held_out: NDArray[np.bool_], settings: FeatureSettings, workers: Workers
) -> Iterator[FeatureBatch]:
    """Yield the features of the texts of a fold: those for which the mask ``held_out``, (texts,), is True."""

    def features_of(group: NDArray[np.intp]) -> FeatureBatch:
        self_outputs = fitted.self_outputs[group]
        return batch_of(
            fitted.features,
            group,
            list(texts.take(group)),
            self_outputs,
            needs_token_features=settings.needs_token_features,
        )

    return workers.map(features_of, groups_of(texts, np.flatnonzero(held_out)))
