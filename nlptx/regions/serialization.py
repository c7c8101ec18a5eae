"""Converts a region classifier to the arrays in a model file and back.

The vectors and the word weights, which are by far the largest arrays, are stored as block floats
(:mod:`nlptx.artifacts.block_floats`). Training already rounds these arrays to block floats, so storing a classifier
does not change it. Files written by older versions contain no word vectors; the classifier then gets word vectors with
0 components.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.block_floats import float_arrays, read_floats
from nlptx.artifacts.validation import require_array
from nlptx.errors import CorruptError
from nlptx.ngrams.key_arrays import key_arrays, read_keys
from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.region_ngrams import BAG, RegionNgrams

_PREFIX = "region_"
_BLOCK_FLOATS = ("table", "word_vectors", "word_weights")
# Axes of the smaller learned arrays: R components of a region's vector, F filters and E outputs.
_AXES = {
    "vector_weights": "RF",
    "bias": "F",
    "output_weights": "FE",
    "output_bias": "E",
}


def region_arrays(classifier: RegionClassifier) -> dict[str, NDArray]:
    """Return the arrays that represent a region classifier in an artifact."""
    arrays = {name: getattr(classifier, name) for name in _AXES}
    for name in _BLOCK_FLOATS:
        arrays |= float_arrays(name, getattr(classifier, name), compact=True)
    return key_arrays(classifier.ngrams.keys, f"{_PREFIX}ngrams") | {
        _PREFIX + name: array for name, array in arrays.items()
    }


def read_region_classifier(artifact: Artifact, words: int, outputs: int, groups: int) -> RegionClassifier:
    """Return the region classifier stored by :func:`region_arrays`.

    Args:
        artifact: artifact that contains the classifier.
        words: vocabulary size.
        outputs: number of outputs per text.
        groups: number of groups of filters.

    Raises:
        CorruptError: an array is invalid.
    """
    keys = read_keys(artifact, f"{_PREFIX}ngrams")
    if (keys < 1).any():
        raise CorruptError("the n-grams of its regions are damaged")
    ngrams = RegionNgrams(keys, words)
    table = read_floats(artifact, f"{_PREFIX}table", True, (len(keys), None))
    bias = artifact.arrays.get(f"{_PREFIX}bias")
    filters = len(bias) if bias is not None and bias.ndim else 0
    if filters % groups:
        raise CorruptError(f"its {filters} region filters are not divisible into {groups} groups")
    word_vectors = _read_word_vectors(artifact, ngrams.single)
    components = table.shape[1] + BAG * word_vectors.shape[1]
    learned = _learned(artifact, {"R": components, "F": filters, "E": outputs})
    word_weights = read_floats(artifact, f"{_PREFIX}word_weights", True, (ngrams.single, filters))
    return RegionClassifier(ngrams, table, word_vectors, word_weights, **learned, groups=groups)


def _read_word_vectors(artifact: Artifact, words: int) -> NDArray[np.float32]:
    """Read the word vectors, (words, D); D is 0 in older files. Raises CorruptError if the vectors are invalid."""
    name = f"{_PREFIX}word_vectors"
    if name not in artifact.arrays:
        return np.zeros((words, 0), np.float32)
    return read_floats(artifact, name, True, (words, None))


def _learned(artifact: Artifact, sizes: Mapping[str, int]) -> dict[str, NDArray[np.float32]]:
    """Return the smaller learned arrays by name. Raises CorruptError if an array is invalid."""
    return {
        name: require_array(artifact, _PREFIX + name, "float32", tuple(sizes[axis] for axis in axes))
        for name, axes in _AXES.items()
    }
