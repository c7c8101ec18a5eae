"""Fits the linear models of the n-gram features on parts of a large training set.

The models of different parts are independent of each other, so different machines can fit them. For smaller training
sets, :mod:`nlptx.ngrams.fold_models` does the same. Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.extension import with_ngrams
from nlptx.ngrams.feature_settings import FeatureSettings
from nlptx.ngrams.features import NgramFeatures
from nlptx.ngrams.lexicon import LexiconPrior
from nlptx.ngrams.naive_bayes import feature_width, log_count_ratios
from nlptx.ngrams.occurrence_blocks import OccurrenceBlocks
from nlptx.ngrams.out_of_core_components import OutOfCoreComponents, WeightedRows
from nlptx.ngrams.out_of_core_counts import KnownNgrams
from nlptx.ngrams.out_of_core_models import TextLoss, fit_on_components, fit_ratios
from nlptx.runtime.workers import Store


class Fitted(NamedTuple):
    """Models that were fitted on part of the texts.

    Args:
        features: the fitted ratios and linear models, which compute the features of any text.
        self_outputs: (texts, M E) contribution of each text to its own outputs: the LSA components are computed from
            all texts, including this one.
    """

    features: NgramFeatures
    self_outputs: NDArray[np.float32]


@dataclass(frozen=True)
class FoldModelData:
    """The data on which the linear models are fitted.

    Args:
        blocks: matrix N (texts, G), which shows which labelled texts contain which known n-grams; see
            :mod:`.occurrence_blocks`.
        inverse_roots: (texts,) float32 1 / sqrt(T) for each text of T words.
        targets: (texts,) class of each text, or a (texts, C) bool array, True for each class that a text has.
        weights: (texts,) weight of each text.
        settings: settings of the n-gram features.
        known: the known n-grams.
        fold: (texts,) fold of each text.
        counts: (folds, G, C or C + 1) class counts of each fold; see :func:`.out_of_core_counts.class_counts`.
        lexicon_feature: (texts, 1) lexicon feature of each text (see :mod:`nlptx.ngrams.lexicon`), or None.
        lexicon: prior of the weights of the ratio model, or None.
        components: LSA components, or None.
        rows: matrix X (texts, n-grams with an importance above 0), from which the components of the labelled texts are
            computed; see :class:`.WeightedRows`. None if the settings ask for no components.
        importance: (G,) float32 importance of each n-gram (see :mod:`nlptx.ngrams.lsa`); 0 for n-grams that the
            components do not use.
    """

    blocks: OccurrenceBlocks
    inverse_roots: NDArray[np.float32]
    targets: NDArray[np.int64] | NDArray[np.bool_]
    weights: NDArray[np.float64]
    settings: FeatureSettings
    known: KnownNgrams
    fold: NDArray[np.intp]
    counts: NDArray[np.float64]
    lexicon_feature: NDArray[np.float32] | None
    lexicon: LexiconPrior | None
    components: OutOfCoreComponents | None
    rows: WeightedRows | None
    importance: NDArray[np.float32]

    def stored(self, store: Store) -> FoldModelData:
        """Return the data with its blocks in files, for tasks of :meth:`.Workers.map_shared`. Raises OutputError."""
        rows = None if self.rows is None else self.rows.stored(store)
        return replace(self, blocks=self.blocks.stored(store), rows=rows)


def fit_fold_models(data: FoldModelData, part: int) -> Fitted:
    """Fit both linear models on all texts except those in fold ``part``; on all texts if no fold has this number."""
    inside, class_totals = np.ones(len(data.fold), bool), data.counts.sum(axis=0)
    if part < len(data.counts):
        inside, class_totals = data.fold != part, class_totals - data.counts[part]
    settings, known = data.settings, data.known
    multi_label = data.targets.ndim == 2
    width = feature_width(settings.classes, independent=multi_label)
    text_counts = class_totals[:, -1] if multi_label else None
    ratios = log_count_ratios(class_totals[:, : settings.classes], known.min_texts, text_counts)
    loss = TextLoss(data.targets, np.where(inside, data.weights, 0), width)
    first = fit_ratios(data.blocks, data.inverse_roots, loss, ratios, data.lexicon_feature)
    features = NgramFeatures(settings.order, settings.words, known.keys, ratios, first.ratio_weights, first.bias)
    self_outputs = np.zeros((len(data.fold), width), np.float32)
    if data.components is not None and data.rows is not None:
        features, component_outputs = _with_components(features, data.components, data.rows, loss, data.importance)
        self_outputs = np.hstack([self_outputs, component_outputs])
    if data.lexicon is not None:
        features = with_ngrams(features, data.lexicon.keys, data.lexicon.values[:, None] * first.lexicon_slope)
    return Fitted(features, self_outputs)


def _with_components(
    features: NgramFeatures,
    components: OutOfCoreComponents,
    rows: WeightedRows,
    loss: TextLoss,
    importance: NDArray[np.float32],
) -> tuple[NgramFeatures, NDArray[np.float32]]:
    """Fit the LSA model, and return the features with this model added.

    Returns:
        The features with both models, and the contribution (texts, E) of each text to its own output in the LSA model;
        see :meth:`nlptx.ngrams.lsa.TextComponents.self_outputs`.
    """
    coefficients, bias = fit_on_components(
        components, rows, replace(loss, weights=np.where(rows.inverse_norms, loss.weights, 0))
    )
    row_weights, offset = components.to_ngrams(coefficients)
    lsa_weights = np.zeros((len(importance), loss.width), np.float32)
    lsa_weights[importance > 0] = row_weights * rows.importance[:, None]
    biases = np.concatenate([features.bias, bias + offset]).astype(np.float32)
    return replace(features, bias=biases, lsa_weights=lsa_weights, importance=importance), components.self_outputs(
        rows, coefficients
    )
