"""Fits the linear models of the n-gram features on parts of the training set, such as all texts outside a fold.

The models of different parts are independent of each other, so they can be fitted by different processes or machines.
Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.array_bytes import arrays_to_bytes
from nlptx.ngrams.feature_settings import FeatureSettings
from nlptx.ngrams.logistic_regression import fit_dense
from nlptx.ngrams.lsa import TextComponents
from nlptx.ngrams.naive_bayes import feature_width
from nlptx.ngrams.ratio_model import fit_ratio_model


@dataclass(frozen=True)
class ModelData:
    """The data on which the linear models are fitted.

    Args:
        scaled: (texts, G) float32 matrix that is 1 / sqrt(T) where a text of T words contains an n-gram, and 0
            elsewhere.
        targets: (texts,) class of each text, or a (texts, C) bool array, True for each class that a text has.
        settings: settings of the n-gram features.
        parts: for each part of the training set, the indices of its texts.
        lexicon_feature: (texts, 1) lexicon feature of each text (see :mod:`nlptx.ngrams.lexicon`), or None.
        text_weights: (texts,) weight of each text, or None.
        components: LSA components of the texts with enough n-grams (see
            :func:`.feature_settings.has_enough_ngrams`), or None.
        row_of: (texts,) row of each text in the components; -1 for a text with too few n-grams.
        importance: (G,) float32 importance of each n-gram (see :mod:`nlptx.ngrams.lsa`); 0 for n-grams that the
            components do not use.
    """

    scaled: sp.csr_matrix
    targets: NDArray[np.int64] | NDArray[np.bool_]
    settings: FeatureSettings
    parts: list[NDArray[np.intp]]
    lexicon_feature: sp.csr_matrix | None
    text_weights: NDArray[np.float64] | None
    components: TextComponents | None
    row_of: NDArray[np.intp]
    importance: NDArray[np.float32]


def fit_part(data: ModelData, part: int) -> bytes:
    """Fit the ratio model and the LSA model on one part of the texts.

    Returns:
        The arrays of both models, converted to bytes by :func:`nlptx.ngrams.array_bytes.arrays_to_bytes`. The arrays of
        the ratio model (see :class:`nlptx.ngrams.ratio_model.RatioModel`) are followed by those of the LSA model:
        weights (G, E), bias (E,) and, for all texts, including those outside the part, the contribution of each text to
        its own output, (texts, E); see :meth:`nlptx.ngrams.lsa.TextComponents.self_outputs`.
    """
    rows = data.parts[part]
    ratio_model = fit_ratio_model(
        data.scaled[rows],
        data.targets[rows],
        data.settings.classes,
        data.settings.min_texts,
        None if data.lexicon_feature is None else data.lexicon_feature[rows],
        None if data.text_weights is None else data.text_weights[rows],
    )
    lsa_model: tuple[NDArray, ...] = (np.zeros(0),) * 3
    if data.components is not None:
        lsa_model = _fit_lsa_model(data, data.components, rows)
    return arrays_to_bytes([*ratio_model, *lsa_model])


def _fit_lsa_model(data: ModelData, components: TextComponents, rows: NDArray[np.intp]) -> tuple[NDArray, ...]:
    """Fit the LSA model and return its arrays; see :func:`fit_part`."""
    width = feature_width(data.settings.classes, independent=data.targets.ndim == 2)
    used = rows[data.row_of[rows] >= 0]
    used_weights = None if data.text_weights is None else data.text_weights[used]
    coefficients, start = fit_dense(components.scores[data.row_of[used]], data.targets[used], width, used_weights)
    coefficients = coefficients.astype(np.float32)
    ngram_weights, offset = components.to_ngrams(coefficients)
    self_outputs = np.zeros((len(data.targets), width), np.float32)
    has_row = data.row_of >= 0
    self_outputs[has_row] = components.self_outputs(coefficients)[data.row_of[has_row]]
    important = data.importance > 0
    spread = np.zeros((len(important), width), np.float32)
    spread[important] = ngram_weights * data.importance[important, None]
    return spread, start + offset, self_outputs
