"""Converts NgramFeatures to the arrays in a model file and back.

The keys of the n-grams are sorted int64 numbers. They are stored in two parts if this takes less space: the lower 32
bits of each key, as an int32; and each distinct value of the upper bits, with the number of keys that have this value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.artifacts.container import Artifact
from nlptx.artifacts.validation import need_array
from nlptx.errors import CorruptError
from nlptx.ngrams.features import NgramFeatures
from nlptx.ngrams.naive_bayes import feature_width
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.nn.losses import LOSSES
from nlptx.settings import TrainSettings

_LOWER_BITS = 32


def feature_arrays(known: NgramFeatures, dtype: DTypeLike) -> dict[str, NDArray]:
    """Return the arrays that represent n-gram features in an artifact, with ratios and weights of type ``dtype``."""
    floats = {"ratios": known.ratios, "slopes": known.slopes}
    indices: dict[str, NDArray] = {}
    if isinstance(known, SparseNgramFeatures):
        indices = {"slope_starts": known.starts, "slope_labels": known.labels}
    if known.latent is not None and known.importance is not None:
        floats |= {"latent": known.latent, "importance": known.importance}
    stored = {name: array.astype(dtype, copy=False) for name, array in floats.items()}
    return {**key_arrays(known.keys), "bias": known.bias, **indices, **stored}


def key_arrays(keys: NDArray[np.int64]) -> dict[str, NDArray]:
    """Return sorted keys (G,) as arrays to store, in the form that takes less space."""
    upper, counts = np.unique(keys >> _LOWER_BITS, return_counts=True)
    parts = {"ngrams_lower": keys.astype(np.int32), "ngrams_upper": np.stack([upper, counts], axis=1)}
    return parts if sum(part.nbytes for part in parts.values()) < keys.nbytes else {"ngrams": keys}


def read_keys(artifact: Artifact) -> NDArray[np.int64]:
    """Return the keys (G,) stored by :func:`key_arrays`. Raises CorruptError if they are damaged."""
    if "ngrams" in artifact.arrays:
        keys = need_array(artifact, "ngrams", "int64", (None,))
    else:
        lower = need_array(artifact, "ngrams_lower", "int32", (None,)).view(np.uint32)
        upper, counts = need_array(artifact, "ngrams_upper", "int64", (None, 2)).T
        if (counts < 1).any() or (counts > len(lower)).any() or counts.sum() != len(lower) or (upper >> 31).any():
            raise CorruptError("the upper bits of its n-grams are damaged")
        keys = np.repeat(upper << _LOWER_BITS, counts) | lower
    if (keys[1:] <= keys[:-1]).any() or (keys < 0).any():
        raise CorruptError("its n-grams are unsorted")
    return keys


def read_ngram_features(artifact: Artifact, settings: TrainSettings, words: int, classes: int) -> NgramFeatures | None:
    """Return n-gram features stored by :func:`feature_arrays`, or None if there are none. Raises CorruptError."""
    if not artifact.arrays.keys() & {"ngrams", "ngrams_lower"}:
        return None
    if settings.ngrams == 0:
        raise CorruptError("it contains n-grams, although its settings say that it has none")
    keys = read_keys(artifact)
    width = feature_width(classes, LOSSES[settings.loss].independent)
    if "slope_starts" in artifact.arrays:
        return _read_sparse(artifact, settings, words, classes, keys)
    ratios = need_floats(artifact, "ratios", settings.float16, (len(keys), None))
    slopes = need_floats(artifact, "slopes", settings.float16, (len(keys), width))
    latent = importance = None
    if "latent" in artifact.arrays:
        latent = need_floats(artifact, "latent", settings.float16, (len(keys), width))
        importance = need_floats(artifact, "importance", settings.float16, (len(keys),))
    bias = need_array(artifact, "bias", "float32", (width if latent is None else 2 * width,))
    return NgramFeatures(settings.ngrams, words, keys, ratios, slopes, bias, latent, importance)


def _read_sparse(
    artifact: Artifact, settings: TrainSettings, words: int, classes: int, keys: NDArray[np.int64]
) -> SparseNgramFeatures:
    slopes = need_floats(artifact, "slopes", settings.float16, (None,))
    labels = need_array(artifact, "slope_labels", "int32", (len(slopes),))
    starts = need_array(artifact, "slope_starts", "int64", (len(keys) + 1,))
    ratios = need_floats(artifact, "ratios", settings.float16, (len(keys), 0))
    bias = need_array(artifact, "bias", "float32", (classes,))
    if starts[0] != 0 or starts[-1] != len(slopes) or (np.diff(starts) < 0).any():
        raise CorruptError("the positions of its n-gram weights are damaged")
    if (labels < 0).any() or (labels >= classes).any():
        raise CorruptError("an n-gram has a weight for a label that does not exist")
    return SparseNgramFeatures(settings.ngrams, words, keys, ratios, slopes, bias, starts=starts, labels=labels)


def need_floats(artifact: Artifact, name: str, float16: bool, shape: tuple[int | None, ...]) -> NDArray[np.float32]:
    """Return an array as float32; ``float16`` says whether it is stored as float16 or float32. Raises CorruptError."""
    stored = need_array(artifact, name, "float16" if float16 else "float32", shape)
    return stored.astype(np.float32, copy=False)
