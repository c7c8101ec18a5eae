"""Converts a region classifier to the arrays in a model file and back.

The vectors of the n-grams and the word weights, which are by far the largest arrays, are stored as block floats
(:mod:`nlptx.artifacts.block_floats`). Training rounds them, so a classifier is the same before and after storing.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.artifacts.block_floats import block_float_arrays, read_block_floats
from nlptx.artifacts.container import Artifact
from nlptx.artifacts.validation import need_array
from nlptx.errors import CorruptError
from nlptx.ngrams.key_arrays import key_arrays, read_keys
from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.ngrams import RegionNgrams

_PREFIX = "region_"
_BLOCK_FLOATS = ("table", "word_weights")
# Axes of the smaller learned arrays: R components, F filters and E outputs.
_AXES = {
    "vector_weights": "RF",
    "bias": "F",
    "output_weights": "FE",
    "output_bias": "E",
}


def region_arrays(classifier: RegionClassifier, dtype: DTypeLike) -> dict[str, NDArray]:
    """Return the arrays that represent a region classifier in an artifact, with other weights of type ``dtype``."""
    arrays = {name: getattr(classifier, name).astype(dtype, copy=False) for name in _AXES}
    for name in _BLOCK_FLOATS:
        arrays |= block_float_arrays(name, getattr(classifier, name))
    return key_arrays(classifier.ngrams.keys, f"{_PREFIX}ngrams") | {
        _PREFIX + name: array for name, array in arrays.items()
    }


def read_region_classifier(
    artifact: Artifact, float16: bool, words: int, outputs: int, groups: int
) -> RegionClassifier:
    """Return the region classifier stored by :func:`region_arrays`.

    Args:
        artifact: the artifact.
        float16: whether the smaller arrays are stored as float16.
        words: vocabulary size.
        outputs: number of outputs.
        groups: number of groups of filters.

    Raises:
        CorruptError: an array is invalid.
    """
    keys = read_keys(artifact, f"{_PREFIX}ngrams")
    if (keys < 1).any():
        raise CorruptError("the n-grams of its regions are damaged")
    ngrams = RegionNgrams(keys, words)
    table = read_block_floats(artifact, f"{_PREFIX}table", (len(keys), None))
    bias = artifact.arrays.get(f"{_PREFIX}bias")
    filters = len(bias) if bias is not None and bias.ndim else 0
    if filters % groups:
        raise CorruptError(f"its {filters} region filters are not divisible into {groups} groups")
    learned = _learned(artifact, float16, {"R": table.shape[1], "F": filters, "E": outputs})
    word_weights = read_block_floats(artifact, f"{_PREFIX}word_weights", (ngrams.single, filters))
    return RegionClassifier(ngrams, table, word_weights, **learned, groups=groups)


def _learned(artifact: Artifact, float16: bool, sizes: Mapping[str, int]) -> dict[str, NDArray[np.float32]]:
    """Return the smaller learned arrays by name. Raises CorruptError if one of them is invalid."""
    dtype = "float16" if float16 else "float32"
    return {
        name: need_array(artifact, _PREFIX + name, dtype, tuple(sizes[axis] for axis in axes)).astype(
            np.float32, copy=False
        )
        for name, axes in _AXES.items()
    }
