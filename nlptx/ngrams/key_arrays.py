"""Converts the keys of n-grams, which are sorted int64 numbers, to the arrays in a model file and back.

The keys are stored in two arrays if these take less space than a single one. The first array contains the lower 32 bits
of each key, as an int32. The second array contains each distinct value of the upper bits, with the number of keys that
have this value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.validation import require_array
from nlptx.errors import CorruptError

_LOWER_BITS = 32
# Default prefix of the names of the arrays that contain keys.
NGRAMS = "ngrams"


def key_arrays(keys: NDArray[np.int64], name: str = NGRAMS) -> dict[str, NDArray]:
    """Return sorted keys (G,) as one or two arrays, whichever takes less space; their names start with ``name``."""
    upper, counts = np.unique(keys >> _LOWER_BITS, return_counts=True)
    parts = {f"{name}_lower": keys.astype(np.int32), f"{name}_upper": np.stack([upper, counts], axis=1)}
    return parts if sum(part.nbytes for part in parts.values()) < keys.nbytes else {name: keys}


def has_keys(artifact: Artifact, name: str = NGRAMS) -> bool:
    """Return whether an artifact contains keys with this name."""
    return bool(artifact.arrays.keys() & {name, f"{name}_lower"})


def read_keys(artifact: Artifact, name: str = NGRAMS) -> NDArray[np.int64]:
    """Return the keys (G,) stored by :func:`key_arrays`. Raises CorruptError if the arrays are damaged."""
    if name in artifact.arrays:
        keys = require_array(artifact, name, "int64", (None,))
    else:
        lower = require_array(artifact, f"{name}_lower", "int32", (None,)).view(np.uint32)
        upper, counts = require_array(artifact, f"{name}_upper", "int64", (None, 2)).T
        if (counts < 1).any() or (counts > len(lower)).any() or counts.sum() != len(lower) or (upper >> 31).any():
            raise CorruptError("the upper bits of its n-grams are damaged")
        keys = np.repeat(upper << _LOWER_BITS, counts) | lower
    if (keys[1:] <= keys[:-1]).any() or (keys < 0).any():
        raise CorruptError("its n-grams are unsorted")
    return keys
