"""Trains a region classifier (:mod:`nlptx.regions`) after the network, and adds its outputs to those of the network.

The outputs of the model are a x + b y, where x are the outputs of the network and y those of the region classifier. The
two classifiers agree less often than two networks would, because they are trained separately, and the region classifier
uses neither n-gram features nor soft labels. :mod:`nlptx.training.fusion` fits the weights a and b. Region filters need
more labelled texts than the network and the linear models do. The prior means A of a and B of b therefore depend on the
number N of labelled texts; M is a constant:

    A = 1 - B,  B = 0.38 N / (N + M).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.block_floats import rounded
from nlptx.classifier.model import Model
from nlptx.classifier.region_fusion import RegionFusion
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams import MAX_VOCABULARY
from nlptx.ngrams.feature_settings import groups_of
from nlptx.regions import RegionClassifier, RegionNgrams
from nlptx.regions.contexts import context_weights
from nlptx.regions.learning import RegionTrainingTexts, fit_region_classifier
from nlptx.regions.ngram_vectors import fit_vectors
from nlptx.runtime.workers import Workers
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import TrainSettings
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset, Examples
from nlptx.training.fusion import fuse
from nlptx.training.loss import outputs_of
from nlptx.training.sample_weights import scaled_to_mean_one

# Number of groups of filters. Two cores train both groups in the time that one core takes for one group.
_GROUPS = 2
# Limit of B as the number of labelled texts grows, the constant M, and the standard deviation of the prior.
_REGION_WEIGHT, _HALF_WAY, _DEVIATION = 0.38, 500, 0.08
# Sizes that depend on F, the number of filters in a group. An n-gram vector has F / _FILTERS_PER_COMPONENT components.
# The classifier knows at most F * _LONGER_PER_FILTER n-grams of two or more words, and at most F * _WORDS_PER_FILTER
# words, but never more than _MAX_KNOWN_WORDS words. A compact model knows fewer words, because a word takes about 2.5 F
# bytes in its file.
_FILTERS_PER_COMPONENT, _LONGER_PER_FILTER = 2, 512
_WORDS_PER_FILTER, _WORDS_PER_FILTER_IN_COMPACT, _MAX_KNOWN_WORDS = 256, 192, 30_000
# Approximate maximum number of words in the texts from which the vectors are made. The time for making the vectors
# is proportional to the number of words in these texts.
_MAX_TOKENS = 1 << 26


def add_regions(model: Model, vectors: NDArray, data: Dataset, context: TrainingContext) -> None:
    """Train a region classifier and add it to a trained model, unless the settings disable it.

    If training was stopped, no region classifier is added.

    Args:
        model: model whose network was trained.
        vectors: (V, R) word vectors before the network was trained, so that the region classifier does not depend on
            the training of the network.
        data: training texts, held-out texts and texts without labels.
        context: seed, workers and callbacks.
    """
    if not model.settings.region_filters or context.interrupted:
        return
    words = len(model.vocabulary)
    if words > MAX_VOCABULARY:
        context.on_note(f"no region filters: {words:,} words are more than the maximum of {MAX_VOCABULARY:,}")
        return
    classifier = _fit(model, vectors, data, context)
    if classifier is None:
        context.on_note("no region filters, because training was stopped before the filters were trained")
        model.history["interrupted"] = True
        return
    outputs_by_loss = {}
    if len(data.valid):
        of_network = outputs_of(model, data.valid, context.workers)
        of_regions = region_outputs(classifier, data.valid.ids, context.workers)
        outputs_by_loss = {"network_loss": of_network, "region_loss": of_regions}
    weights, record = fuse(model, outputs_by_loss, data.valid, _prior(data.train.texts().total_weight), _DEVIATION)
    model.regions = RegionFusion(classifier, (weights[0], weights[1]))
    model.history["regions"] = {"ngrams": len(classifier.ngrams), "components": classifier.table.shape[1]} | record


def region_outputs(classifier: RegionClassifier, texts: RaggedArray, workers: Workers) -> NDArray:
    """Return the outputs (texts, outputs) of a region classifier. To save memory, texts are processed in groups.

    There must be at least one text, and each text must have at least one word.
    """
    groups = groups_of(texts, np.arange(len(texts)))
    return np.concatenate(list(workers.map(lambda rows: classifier.outputs(list(texts.take(rows))), groups)))


def without_new_regions(
    start: Model, settings: TrainSettings, on_note: Callable[[str], None]
) -> tuple[Model, TrainSettings]:
    """Return the model to start from, and settings that prevent the training of new region filters.

    The region filters of a model without n-gram features are left out, because training adds the outputs of region
    filters to n-gram features.
    """
    if start.regions is not None and start.ngram_features is None:
        on_note("the region filters of the model are left out, because it has no n-gram features")
        start = replace(start, regions=None)
    elif settings.region_filters > 0:
        kept = "" if start.regions is None else "; those of the model are kept"
        on_note(f"no region filters are trained, because training starts from a model{kept}")
    return start, replace(settings, region_filters=min(settings.region_filters, 0))


def _fit(model: Model, vectors: NDArray, data: Dataset, context: TrainingContext) -> RegionClassifier | None:
    """Return a region classifier trained on the labelled texts, or None if training was stopped."""
    train, words = data.train.texts(), len(model.vocabulary)
    sources = _sample(data.unlabelled if len(data.unlabelled) else train)
    context.report("vectors of n-grams", 0)
    filters = model.settings.region_filters
    words_per_filter = _WORDS_PER_FILTER_IN_COMPACT if model.settings.compact else _WORDS_PER_FILTER
    max_words = min(words_per_filter * filters, _MAX_KNOWN_WORDS)
    ngrams, counts = RegionNgrams.count(sources, words, max_words, _LONGER_PER_FILTER * filters, context.workers)
    table = fit_vectors(
        sources,
        ngrams,
        counts,
        context_weights(counts, train.ids, train.targets, len(model.labels), train.weights),
        -(-filters // _FILTERS_PER_COMPONENT),
        generator(context.seed, Stream.REGION_VECTORS),
        context.workers,
        lambda fraction: context.report("vectors of n-grams", fraction),
    )

    def should_continue(fraction: float) -> bool:
        context.report("region filters", fraction)
        return not context.stop_requested()

    classifier = fit_region_classifier(
        RegionTrainingTexts(
            train.ids, train.targets, None if train.weights is None else scaled_to_mean_one(train.weights)
        ),
        model.network.loss,
        ngrams,
        rounded(table),
        rounded(_unit_vectors(vectors[ngrams.word_ids, : table.shape[1]])),
        filters,
        [generator(context.seed, Stream.REGIONS, group) for group in range(_GROUPS)],
        context.workers,
        should_continue,
    )
    return None if classifier is None else replace(classifier, word_weights=rounded(classifier.word_weights))


def _sample(texts: Examples) -> RaggedArray:
    """Return all texts, or every k-th text if all texts together have more than _MAX_TOKENS words."""
    step = max(1, -(-int(texts.ids.lengths.sum(dtype=np.int64)) // _MAX_TOKENS))
    return texts.ids[::step]


def _unit_vectors(vectors: NDArray) -> NDArray[np.float32]:
    """Scale each row to unit norm. A row of zeros stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0).astype(np.float32)


def _prior(texts: float) -> NDArray[np.float64]:
    """Return the prior means A and B for a number of labelled texts."""
    of_regions = _REGION_WEIGHT * texts / (texts + _HALF_WAY)
    return np.array([1 - of_regions, of_regions])
