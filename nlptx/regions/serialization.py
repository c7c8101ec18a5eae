"""Converts a region classifier to the arrays in a model file and back.

The vectors of the n-grams are always stored in float16; :func:`rounded` rounds them before the classifier is trained.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.artifacts.container import Artifact
from nlptx.artifacts.validation import need_array
from nlptx.errors import CorruptError
from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.ngrams import RegionNgrams

_PREFIX = "region_"
# Axes of the learned arrays: W words, R components, F filters and E outputs.
_AXES = {
    "word_weights": "WF",
    "vector_weights": "RF",
    "bias": "F",
    "output_weights": "FE",
    "output_bias": "E",
}


def rounded(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vectors of n-grams with the accuracy of a model file."""
    largest = float(np.finfo(np.float16).max)
    return np.clip(table, -largest, largest).astype(np.float16).astype(np.float32)


def region_arrays(classifier: RegionClassifier, dtype: DTypeLike) -> dict[str, NDArray]:
    """Return the arrays that represent a region classifier in an artifact, with learned weights of type ``dtype``."""
    learned = {name: getattr(classifier, name).astype(dtype, copy=False) for name in _AXES}
    arrays = {"ngrams": classifier.ngrams.keys, "table": classifier.table.astype(np.float16), **learned}
    return {_PREFIX + name: array for name, array in arrays.items()}


def read_region_classifier(
    artifact: Artifact, float16: bool, words: int, outputs: int, groups: int
) -> RegionClassifier:
    """Return the region classifier stored by :func:`region_arrays`.

    Args:
        artifact: the artifact.
        float16: whether the learned weights are stored as float16.
        words: vocabulary size.
        outputs: number of outputs.
        groups: number of groups of filters.

    Raises:
        CorruptError: an array is invalid.
    """
    keys = need_array(artifact, f"{_PREFIX}ngrams", "int64", (None,))
    if (keys[1:] <= keys[:-1]).any() or (keys < 1).any():
        raise CorruptError("the n-grams of its regions are unsorted")
    ngrams = RegionNgrams(keys, words)
    table = need_array(artifact, f"{_PREFIX}table", "float16", (len(keys), None)).astype(np.float32)
    bias = artifact.arrays.get(f"{_PREFIX}bias")
    filters = len(bias) if bias is not None and bias.ndim else 0
    sizes = {"W": ngrams.single, "R": table.shape[1], "F": filters, "E": outputs}
    if filters % groups:
        raise CorruptError(f"its {filters} region filters are not divisible into {groups} groups")
    return RegionClassifier(ngrams, table, **_learned(artifact, float16, sizes), groups=groups)


def _learned(artifact: Artifact, float16: bool, sizes: Mapping[str, int]) -> dict[str, NDArray[np.float32]]:
    """Return the learned arrays by name. Raises CorruptError if one of them is invalid."""
    dtype = "float16" if float16 else "float32"
    return {
        name: need_array(artifact, _PREFIX + name, dtype, tuple(sizes[axis] for axis in axes)).astype(
            np.float32, copy=False
        )
        for name, axes in _AXES.items()
    }
