"""Converts NgramFeatures to the arrays in a model file and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.block_floats import float_arrays, read_floats, rounded
from nlptx.artifacts.validation import require_array
from nlptx.errors import CorruptError
from nlptx.ngrams.features import NgramFeatures
from nlptx.ngrams.key_arrays import has_keys, key_arrays, read_keys
from nlptx.ngrams.naive_bayes import feature_width
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.nn.losses import LOSSES
from nlptx.settings import TrainSettings


def feature_arrays(features: NgramFeatures, compact: bool) -> dict[str, NDArray]:
    """Return the arrays that represent n-gram features in an artifact. For ``compact``, see :func:`float_arrays`."""
    floats = {"ratios": features.ratios, "slopes": features.ratio_weights}
    indices: dict[str, NDArray] = {}
    if isinstance(features, SparseNgramFeatures):
        indices = {"slope_starts": features.starts, "slope_labels": features.labels}
    if features.lsa_weights is not None and features.importance is not None:
        floats |= {"latent": features.lsa_weights, "importance": features.importance}
    arrays = {**key_arrays(features.keys), "bias": features.bias, **indices}
    for name, array in floats.items():
        arrays |= float_arrays(name, array, compact)
    return arrays


def rounded_features(features: NgramFeatures) -> NgramFeatures:
    """Return n-gram features with numbers rounded as if they had been stored with ``compact``."""
    names = ["ratios", "ratio_weights"] + (["lsa_weights", "importance"] if features.lsa_weights is not None else [])
    changes: dict[str, Any] = {name: rounded(getattr(features, name)) for name in names}
    return replace(features, **changes)


def read_ngram_features(artifact: Artifact, settings: TrainSettings, words: int, classes: int) -> NgramFeatures | None:
    """Return the n-gram features of an artifact; None if it has none. Raises CorruptError if its arrays are damaged."""
    if not has_keys(artifact):
        return None
    if settings.ngrams == 0:
        raise CorruptError("it contains n-grams, although its settings say that it has none")
    keys = read_keys(artifact)
    width = feature_width(classes, LOSSES[settings.loss].independent)
    if "slope_starts" in artifact.arrays:
        return _read_sparse(artifact, settings, words, classes, keys)
    ratios = read_floats(artifact, "ratios", settings.compact, (len(keys), None))
    ratio_weights = read_floats(artifact, "slopes", settings.compact, (len(keys), width))
    lsa_weights = importance = None
    if "latent" in artifact.arrays:
        lsa_weights = read_floats(artifact, "latent", settings.compact, (len(keys), width))
        importance = read_floats(artifact, "importance", settings.compact, (len(keys),))
    bias = require_array(artifact, "bias", "float32", (width if lsa_weights is None else 2 * width,))
    return NgramFeatures(settings.ngrams, words, keys, ratios, ratio_weights, bias, lsa_weights, importance)


def _read_sparse(
    artifact: Artifact, settings: TrainSettings, words: int, classes: int, keys: NDArray[np.int64]
) -> SparseNgramFeatures:
    ratio_weights = read_floats(artifact, "slopes", settings.compact, (None,))
    labels = require_array(artifact, "slope_labels", "int32", (len(ratio_weights),))
    starts = require_array(artifact, "slope_starts", "int64", (len(keys) + 1,))
    ratios = read_floats(artifact, "ratios", settings.compact, (len(keys), 0))
    bias = require_array(artifact, "bias", "float32", (classes,))
    if starts[0] != 0 or starts[-1] != len(ratio_weights) or (np.diff(starts) < 0).any():
        raise CorruptError("the positions of its n-gram weights are damaged")
    if (labels < 0).any() or (labels >= classes).any():
        raise CorruptError("an n-gram has a weight for a label that does not exist")
    return SparseNgramFeatures(settings.ngrams, words, keys, ratios, ratio_weights, bias, starts=starts, labels=labels)
