"""N-gram features for many labels. Most n-grams have weights for only a few of the labels.

Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.features import Lengths, NgramFeatures


@dataclass(frozen=True)
class SparseNgramFeatures(NgramFeatures):
    """The linear weights of all known n-grams. Only weights that are not 0 are stored, and there are no token features.

    Args:
        order, words, keys: as in :class:`NgramFeatures`.
        ratios: (G, 0), an array without columns, because tokens have no features.
        ratio_weights: (Z,) float32 weights that are not 0, sorted by n-gram.
        bias: (E,) float32 biases of the linear models, one per label.
        starts: (G + 1,) int64 index in ``ratio_weights`` of the first weight of each n-gram; the last entry is Z.
        labels: (Z,) int32 label to which each weight belongs.
    """

    starts: NDArray[np.int64] = field(kw_only=True)
    labels: NDArray[np.int32] = field(kw_only=True)

    def dense(self) -> NgramFeatures:
        """Return the same features with all weights stored, including those that are 0."""
        ratio_weights = np.zeros((len(self.keys), len(self.bias)), np.float32)
        ratio_weights[np.repeat(np.arange(len(self.keys)), np.diff(self.starts)), self.labels] = self.ratio_weights
        return NgramFeatures(self.order, self.words, self.keys, self.ratios, ratio_weights, self.bias)

    def slopes_of(self, grams: NDArray[np.integer]) -> NDArray[np.float32]:
        rows = [slice(start, end) for start, end in zip(self.starts[grams], self.starts[grams + 1], strict=True)]
        ratio_weights = np.zeros((len(grams), len(self.bias)), np.float32)
        for slope, row in zip(ratio_weights, rows, strict=True):
            slope[self.labels[row]] = self.ratio_weights[row]
        return ratio_weights

    def text_features_of(
        self, ngram_indices: NDArray[np.integer], lengths: Lengths, words: Lengths | None = None
    ) -> NDArray[np.float32]:
        text, gram = self.distinct(ngram_indices, lengths)
        counts = self.starts[gram + 1] - self.starts[gram]
        ends = np.cumsum(counts)
        # Indices in `ratio_weights` of the weights of the n-grams in `gram`, one n-gram after another.
        at = np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.starts[gram] - ends + counts, counts)
        shape = len(lengths), len(self.bias)
        cells = np.repeat(text, counts) * shape[1] + self.labels[at]
        sums = np.bincount(cells, self.ratio_weights[at], shape[0] * shape[1]).reshape(shape)
        root = np.sqrt(np.maximum(lengths if words is None else words, 1))
        return (self.bias + sums / root[:, None]).astype(np.float32)
