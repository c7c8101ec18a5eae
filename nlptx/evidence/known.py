"""What is known of n-grams, and what it says of a text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.evidence.ngrams import find, ngram_keys


@dataclass(frozen=True)
class TextEvidence:
    """What is known of one text.

    Args:
        places: (T, order E) float32, the ratios of the n-grams that end at each place; 0 for unknown ones.
        whole: (E,) float32, the output of the linear model.
    """

    places: NDArray[np.float32]
    whole: NDArray[np.float32]


@dataclass(frozen=True)
class Evidence:
    """Ratios and linear weights of all known n-grams.

    Args:
        order: longest n-gram.
        words: V.
        keys: (G,) int64, sorted, see :func:`ngram_keys`.
        ratios: (G, E) float32.
        weights: (G, E) float32, what each n-gram adds to the output of the linear model.
        bias: (E,) float32.
    """

    order: int
    words: int
    keys: NDArray[np.int64]
    ratios: NDArray[np.float32]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]

    @property
    def width(self) -> int:
        """E."""
        return self.ratios.shape[1]

    def of(self, ids: NDArray[np.integer]) -> TextEvidence:
        """Return the evidence of a text given as word ids (T,)."""
        return self.at(find(ngram_keys(ids, self.order, self.words), self.keys))

    def at(self, places: NDArray[np.int64]) -> TextEvidence:
        """Return the evidence of a text whose n-grams stand at ``places`` (T, order) of ``keys``."""
        unknown = places == len(self.keys)
        safe = np.where(unknown, 0, places) if len(self.keys) else np.zeros_like(places)
        ratios = self.ratios[safe] if len(self.keys) else np.zeros((*places.shape, self.width), np.float32)
        ratios[unknown] = 0
        distinct = np.unique(places[~unknown])
        return TextEvidence(
            ratios.reshape(len(places), -1 if len(places) else self.order * self.width),
            self.bias + self.weights[distinct].sum(axis=0),
        )
