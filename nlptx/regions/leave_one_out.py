"""Leave-one-out: computes the outputs of a region classifier for a text with each word left out in turn.

If word t is left out, only the regions that contained it change. The changed regions are at positions up to REACH
before and after t. For all positions before the changed regions, and for all positions after them, the largest response
of each filter is computed in advance. The time is therefore proportional to the length of the text.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.regions.classifier import RegionClassifier
from nlptx.regions.region_ngrams import AROUND, REACH
from nlptx.runtime.slices import split_by_lengths

# Number of left-out words whose changed regions are computed together.
_WORDS_AT_A_TIME = 256


def region_outputs_without_each(classifier: RegionClassifier, ids: NDArray[np.integer]) -> NDArray:
    """Leave out each of the T >= 2 words of a text in turn. Return the outputs for each shorter text, (T, outputs)."""
    count = len(ids)
    ngram_indices = classifier.ngrams.find(ids, np.array([count]))
    responses = np.concatenate(list(classifier.responses_in_parts(ngram_indices)))  # (T, F)
    lowest = np.full((1, responses.shape[1]), -np.inf, responses.dtype)
    before = np.concatenate([lowest, np.maximum.accumulate(responses)])  # row t: maxima of rows 0 to t - 1
    after = np.concatenate([np.maximum.accumulate(responses[::-1])[::-1], lowest])  # row t: maxima of row t and later
    maxima = np.empty_like(responses)
    for first in range(0, count, _WORDS_AT_A_TIME):
        left_out = np.arange(first, min(first + _WORDS_AT_A_TIME, count))
        parts = [_around(ids, t) for t in left_out.tolist()]
        lengths = np.array([len(part) for part, _ in parts])
        ngram_indices = classifier.ngrams.find(np.concatenate([part for part, _ in parts]), lengths)
        of_parts = split_by_lengths(classifier.responses(ngram_indices, lengths), lengths)
        maxima[left_out] = [t[changed].max(axis=0) for t, (_, changed) in zip(of_parts, parts, strict=True)]
    words = np.arange(count)
    np.maximum(maxima, before[np.maximum(words - REACH, 0)], out=maxima)
    np.maximum(maxima, after[np.minimum(words + REACH + 1, count)], out=maxima)
    return classifier.outputs_for(maxima)


def _around(ids: NDArray[np.integer], left_out: int) -> tuple[NDArray[np.integer], slice]:
    """Return a passage around word ``left_out`` without this word, and the positions of the changed regions in it.

    The passage contains the positions of all changed regions, and AROUND more words on each side. The start of the
    passage may be treated like the start of a text, because none of the changed regions contains an n-gram that begins
    before the passage.
    """
    start = max(left_out - REACH - AROUND, 0)
    part = np.concatenate([ids[start:left_out], ids[left_out + 1 : left_out + 1 + REACH + AROUND]])
    first = max(left_out - REACH, 0) - start
    last = min(left_out - start + REACH, len(part))
    return part, slice(first, last)
