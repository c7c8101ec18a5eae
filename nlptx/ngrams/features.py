"""What is known of n-grams, and what it says of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.naive_bayes import find, ngram_keys
from nlptx.runtime.radix_sort import radix_argsort

Lengths = Sequence[int] | NDArray[np.integer]


@dataclass(frozen=True)
class TextFeatures:
    """What is known of one text.

    Args:
        token_features: (T, order E) float32, the ratios of the n-grams that end at each place; 0 for unknown ones.
        text_features: (M E,) float32, the outputs of the M linear models.
    """

    token_features: NDArray[np.float32]
    text_features: NDArray[np.float32]

    def minus(self, text_features: NDArray[np.float32]) -> TextFeatures:
        """Return the same with outputs (M E,) taken off those of the linear models."""
        return TextFeatures(self.token_features, self.text_features - text_features)


@dataclass(frozen=True)
class NgramFeatures:
    """Ratios and linear weights of all known n-grams.

    There are one or two linear models: of the ratios, and of the components of the text.

    Args:
        order: longest n-gram.
        words: V.
        keys: (G,) int64, sorted, see :func:`ngram_keys`.
        ratios: (G, E) float32.
        slopes: (G, E) float32, what each n-gram adds to the output of the first model, but for the root of the
            number of words.
        bias: (M E,) float32, of the models.
        latent: (G, E) float32, what each n-gram adds to the output of the second, but for the length of the text's row;
            None without that model.
        importance: (G,) float32, the entries of that row.
    """

    order: int
    words: int
    keys: NDArray[np.int64]
    ratios: NDArray[np.float32]
    slopes: NDArray[np.float32]
    bias: NDArray[np.float32]
    latent: NDArray[np.float32] | None = None
    importance: NDArray[np.float32] | None = None

    def __repr__(self) -> str:
        return f"<NgramFeatures: {len(self.keys):,} n-grams of up to {self.order} words>"

    @property
    def width(self) -> int:
        """E."""
        return self.ratios.shape[1]

    def of(self, ids: NDArray[np.integer]) -> TextFeatures:
        """Return the evidence of a text given as word ids (T,)."""
        return self.at(self.find(ids, [len(ids)]))

    def at(self, found: NDArray[np.integer]) -> TextFeatures:
        """Return the evidence of a text whose n-grams are ``found``, see :meth:`find`."""
        return TextFeatures(self.token_features_of(found), self.text_features_of(found, [len(found)])[0])

    def find(self, ids: NDArray[np.integer], lengths: Lengths) -> NDArray[np.int64]:
        """Return (N, order): where among the keys the n-grams stand that end at each word; G for unknown ones.

        Args:
            ids: (N,) word ids of texts, one after the other.
            lengths: (B,) words of each.
        """
        return find(ngram_keys(ids, self.order, self.words, lengths), self.keys)

    def token_features_of(self, found: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the ratios (N, order E) of n-grams (N, order); 0 for unknown ones."""
        unknown = found == len(self.keys)
        if unknown.all():
            return np.zeros((len(found), self.order * self.width), np.float32)
        ratios = self.ratios[np.where(unknown, 0, found)]
        ratios[unknown] = 0
        return ratios.reshape(len(found), -1)

    def text_features_of(
        self, found: NDArray[np.integer], lengths: Lengths, words: Lengths | None = None
    ) -> NDArray[np.float32]:
        """Return the outputs (B, M E) of the linear models.

        Args:
            found: (N, order) n-grams of texts, or (N, 1) those that a text has at all.
            lengths: (B,) how many rows belong to each text.
            words: (B,) words of each; as many as rows by default.
        """
        text = np.repeat(np.arange(len(lengths)), lengths)[:, None]
        known = found < len(self.keys)
        grams = (text * len(self.keys) + found)[known]
        grams = grams[radix_argsort(grams)]
        distinct = grams[np.diff(grams, prepend=-1) > 0]
        text, place = np.divmod(distinct, max(len(self.keys), 1))

        def sums(values: NDArray) -> NDArray:
            return np.bincount(text, values, len(lengths))

        root = np.sqrt(np.maximum(lengths if words is None else words, 1))
        outputs = [sums(column[place]) / root for column in self.slopes.T]
        if self.latent is not None and self.importance is not None:
            squared = sums(np.square(self.importance[place], dtype=np.float64))
            norms = np.sqrt(np.where(squared > 0, squared, 1))
            outputs += [sums(column[place]) / norms for column in self.latent.T]
        return (self.bias + np.stack(outputs, axis=1)).astype(np.float32)
