"""What is known of n-grams, and what it says of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.evidence.ngrams import find, ngram_keys

Lengths = Sequence[int] | NDArray[np.integer]


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
        return self.at(self.find(ids, [len(ids)]))

    def at(self, places: NDArray[np.int64]) -> TextEvidence:
        """Return the evidence of a text whose n-grams stand at ``places``, see :meth:`find`."""
        return TextEvidence(self.of_places(places), self.of_texts(places, [len(places)])[0])

    def find(self, ids: NDArray[np.integer], lengths: Lengths) -> NDArray[np.int64]:
        """Return (N, order): where among the keys the n-grams stand that end at each word; G for unknown ones.

        Args:
            ids: (N,) word ids of texts, one after the other.
            lengths: (B,) words of each.
        """
        return find(ngram_keys(ids, self.order, self.words, lengths), self.keys)

    def of_places(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the ratios (N, order E) of n-grams (N, order); 0 for unknown ones."""
        unknown = places == len(self.keys)
        if unknown.all():
            return np.zeros((len(places), self.order * self.width), np.float32)
        ratios = self.ratios[np.where(unknown, 0, places)]
        ratios[unknown] = 0
        return ratios.reshape(len(places), -1)

    def of_texts(self, places: NDArray[np.int64], lengths: Lengths) -> NDArray[np.float32]:
        """Return the outputs (B, E) of the linear model for texts with n-grams (N, order)."""
        text = np.repeat(np.arange(len(lengths)), lengths)[:, None]
        known = places < len(self.keys)
        grams = np.sort((text * len(self.keys) + places)[known])
        # np.unique would hash, and load the masked arrays first.
        distinct = grams[np.diff(grams, prepend=-1) > 0]
        text, place = np.divmod(distinct, max(len(self.keys), 1))
        sums = [np.bincount(text, column[place], len(lengths)) for column in self.weights.T]
        return (self.bias + np.stack(sums, axis=1)).astype(np.float32)
