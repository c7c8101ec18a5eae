"""The fitted ratios and weights of n-grams, which are used to compute the features of texts.

Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nlptx.ngrams.ngram_index import NgramIndex
from nlptx.runtime.pickling import PickledWithoutCache
from nlptx.runtime.radix_sort import radix_argsort

Lengths = Sequence[int] | NDArray[np.integer]


@dataclass(frozen=True)
class TextFeatures:
    """N-gram features of one text.

    Args:
        token_features: (T, order E) float32 ratios of the n-grams that end at each position; 0 for unknown n-grams.
        text_features: (M E,) float32 outputs of the M linear models.
    """

    token_features: NDArray[np.float32]
    text_features: NDArray[np.float32]


@dataclass(frozen=True)
class NgramFeatures(PickledWithoutCache):
    """Log-count ratios and linear weights of all known n-grams.

    The inputs of the ratio model are the ratios. The inputs of the LSA model, which is optional, are the LSA components
    of the texts (:mod:`nlptx.ngrams.lsa`); only the resulting weights of the n-grams are stored.

    Args:
        order: length of the longest n-gram.
        words: vocabulary size V.
        keys: (G,) int64 keys of the n-grams, sorted; see :func:`nlptx.ngrams.ngram_keys.ngram_keys`.
        ratios: (G, E) float32 log-count ratios. If training started from a model with other labels, the ratios are
            those of that model, and their number per n-gram may differ from E.
        ratio_weights: (G, E) float32 weights of the n-grams in the ratio model. For a text, the weights of its distinct
            n-grams are summed, and the sum is divided by the square root of the number of words.
        bias: (M E,) float32 biases of the linear models.
        lsa_weights: (G, E) float32 weights of the n-grams in the LSA model. For a text, the weights of its distinct
            n-grams are summed, and the sum is divided by the norm of the importances of these n-grams. None if there is
            no LSA model.
        importance: (G,) float32 importance of each n-gram in the LSA (:mod:`nlptx.ngrams.lsa`); None if there is no
            LSA model.
    """

    order: int
    words: int
    keys: NDArray[np.int64]
    ratios: NDArray[np.float32]
    ratio_weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    lsa_weights: NDArray[np.float32] | None = None
    importance: NDArray[np.float32] | None = None

    def __repr__(self) -> str:
        return f"<NgramFeatures: {len(self.keys):,} n-grams of up to {self.order} words>"

    @cached_property
    def _index(self) -> NgramIndex:
        return NgramIndex(self.keys, self.order, self.words)

    @property
    def models(self) -> int:
        """Number of linear models, M: 1, or 2 if there is an LSA model."""
        return 1 if self.lsa_weights is None else 2

    @property
    def width(self) -> int:
        """Number of ratios per n-gram: E, except after training from a model with other labels; see ``ratios``."""
        return self.ratios.shape[1]

    def of(self, ids: NDArray[np.integer]) -> TextFeatures:
        """Return the features of a text given as word ids (T,)."""
        token_features, text_features = self.arrays_of([ids])
        return TextFeatures(token_features, text_features[0])

    def arrays_of(
        self, texts: Sequence[NDArray[np.integer]], *, needs_token_features: bool = True
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the token features of all texts, one text after another, and the text features of each text.

        Args:
            texts: (T,) word ids of each text.
            needs_token_features: whether token features are needed. If not, the array of token features has no columns.
        """
        lengths = np.array([len(ids) for ids in texts])
        ngram_indices = self.find(np.concatenate(texts), lengths)
        token_features = (
            self.token_features_of(ngram_indices)
            if needs_token_features
            else np.zeros((len(ngram_indices), 0), np.float32)
        )
        return token_features, self.text_features_of(ngram_indices, lengths)

    def find(self, ids: NDArray[np.integer], lengths: Lengths) -> NDArray[np.int32]:
        """Return the indices (N, order) in ``keys`` of the n-grams that end at each word; G for unknown n-grams.

        Args:
            ids: (N,) word ids of the texts, concatenated.
            lengths: (B,) number of words in each text.
        """
        return self._index.find(ids, lengths)

    def slopes_of(self, grams: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the weights (n, E) of n-grams in the ratio model, given the indices ``grams`` (n,) in ``keys``."""
        return self.ratio_weights[grams]

    def token_features_of(self, ngram_indices: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the ratios (N, order E) of the n-grams that :meth:`find` returned; 0 for unknown n-grams."""
        unknown = ngram_indices == len(self.keys)
        if unknown.all():
            return np.zeros((len(ngram_indices), self.order * self.width), np.float32)
        ratios = self.ratios.take(ngram_indices, axis=0, mode="clip")
        ratios[unknown] = 0
        return ratios.reshape(len(ngram_indices), self.order * self.width)

    def distinct(
        self, ngram_indices: NDArray[np.integer], lengths: Lengths
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the index of the text, and the index in ``keys``, of each distinct known n-gram of each text.

        The arguments are those of :meth:`text_features_of`.
        """
        text = np.repeat(np.arange(len(lengths)), lengths)[:, None]
        known = ngram_indices < len(self.keys)
        grams = (text * len(self.keys) + ngram_indices)[known]
        grams = grams[radix_argsort(grams)]
        text, gram = np.divmod(grams[np.diff(grams, prepend=-1) > 0], max(len(self.keys), 1))
        return text, gram

    def text_features_of(
        self, ngram_indices: NDArray[np.integer], lengths: Lengths, words: Lengths | None = None
    ) -> NDArray[np.float32]:
        """Return the outputs (B, M E) of the linear models.

        Args:
            ngram_indices: indices of n-grams, as returned by :meth:`find`: (N, order) for all positions of the texts,
                or (N, 1) for only the distinct n-grams of each text.
            lengths: (B,) number of rows of ``ngram_indices`` that belong to each text.
            words: (B,) number of words in each text; by default, the same as ``lengths``.
        """
        text, gram = self.distinct(ngram_indices, lengths)

        def sums(values: NDArray) -> NDArray:
            return np.bincount(text, values, len(lengths))

        root = np.sqrt(np.maximum(lengths if words is None else words, 1))
        outputs = [sums(column[gram]) / root for column in self.ratio_weights.T]
        if self.lsa_weights is not None and self.importance is not None:
            squared = sums(np.square(self.importance[gram], dtype=np.float64))
            norms = np.sqrt(np.where(squared > 0, squared, 1))
            outputs += [sums(column[gram]) / norms for column in self.lsa_weights.T]
        return (self.bias + np.stack(outputs, axis=1)).astype(np.float32)
