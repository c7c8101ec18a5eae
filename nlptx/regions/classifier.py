"""A classifier with many filters, each of which finds the region of a text to which it responds most strongly.

The region at position p of a text has two parts: a bag of three words, of which the first is at p, and the n-grams in
the five words centred on p. :mod:`nlptx.regions.region_vectors` computes the vector v_p of the region. The response of
filter f, which has the word weights w and the vector weights q, is

    t_pf = sum of w_if over the words i of the bag + sum_r v_pr q_rf.

When texts are scored, the terms that depend on a single word are computed only once for each distinct word
(:mod:`nlptx.regions.word_responses`).

Only the largest response in the whole text affects the outputs:

    m_f = max_p t_pf + b_f        h_f = max(m_f, 0)        n = h / sqrt(1 + |h|^2)        z = dropout(n) U + c.

The outputs z have the same meaning as those of the network. The norm of n is below 1, whatever the number of words. A
trained classifier consists of several groups of filters, which are trained separately. The vector n is computed for
each group, and z is the sum of n U over the groups, plus c.

Because of the maximum, the gradient of a filter reaches only one region per text, so the backward pass is cheap:

    dn = dz U^T                              (times the factors by which dropout multiplied n)
    dh = (dn - n (n . dn)) / sqrt(1 + |h|^2)      because ∂n_f/∂h_g = (delta_fg - n_f n_g) / sqrt(1 + |h|^2)
                                                  with delta_fg = 1 if f = g, else 0
    dm_f = dh_f if m_f > 0, else 0
    db_f = dm_f        dq_rf = v_pr dm_f        dw_if = dm_f for each word i of the bag at the winning position p.

Source: Johnson & Zhang (2015), "Effective Use of Word Order for Text Categorization with Convolutional Neural Networks"
and "Semi-supervised Convolutional Neural Networks for Text Categorization via Region Embedding".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.nn import Dropout, Layout
from nlptx.regions.max_pooling import WordGradient, response_gradient, strongest, word_gradient
from nlptx.regions.region_ngrams import REACH, RegionNgrams, rows_of
from nlptx.regions.region_vectors import Regions, region_vectors, regions_at
from nlptx.regions.word_responses import WordResponses
from nlptx.runtime.pickling import PickledWithoutCache
from nlptx.runtime.slices import slices_up_to

# When texts are scored, the responses at _CHUNK positions of a text, at most, are computed at a time. The region
# vectors are computed for up to REACH more positions on each side. If _CHUNK is changed, the scores of texts longer
# than _CHUNK may change in their last bits.
_CHUNK = 1 << 9
# Maximum total number of positions in texts whose region vectors are computed together.
_TOGETHER = 1 << 11


class Responses(NamedTuple):
    """The results of :meth:`RegionClassifier.forward`, in the notation of the module's equations.

    Args:
        bags: (N, BAG) indices of the words in the bag of each region.
        vectors: (N, R) vectors v of the regions.
        winners: (B, F) index of the region with the largest response, for each text and filter.
        maxima: (B, F) largest responses m.
        scale: (B, F) factor 1 / sqrt(1 + |h|^2).
        directions: (B, F) n, which is h times ``scale``.
        mask: (B, F) factor by which dropout multiplied each entry of n; None without dropout.
        outputs: (B, outputs) outputs z.
    """

    bags: NDArray[np.int32]
    vectors: NDArray
    winners: NDArray[np.int64]
    maxima: NDArray
    scale: NDArray
    directions: NDArray
    mask: NDArray | None
    outputs: NDArray


@dataclass(frozen=True)
class RegionClassifier(PickledWithoutCache):
    """The parameters of a region classifier, with its forward and backward pass.

    Axis letters: B texts, N regions of all texts, F filters, G known n-grams, W known words. The vector of an n-gram
    has K components, that of a word D components, and that of a region R = K + BAG D components.

    Args:
        ngrams: known n-grams.
        table: (G, K) vectors of the n-grams, which training does not change.
        word_vectors: (W, D) vectors of the words, which training does not change.
        word_weights: (W, F) word weights w.
        vector_weights: (R, F) vector weights q.
        bias: (F,) bias b of each filter.
        output_weights: (F, outputs) output weights U.
        output_bias: (outputs,) output bias c.
        groups: number of groups of filters, all of the same size.
    """

    ngrams: RegionNgrams
    table: NDArray
    word_vectors: NDArray
    word_weights: NDArray
    vector_weights: NDArray
    bias: NDArray
    output_weights: NDArray
    output_bias: NDArray
    groups: int = 1

    def forward(self, regions: Regions, dropout: float = 0.0, rng: np.random.Generator | None = None) -> Responses:
        """Given the regions of texts, return the outputs, and the other values that :meth:`backward` needs."""
        vectors = region_vectors(regions, self.word_vectors)
        t = vectors @ self.vector_weights
        for words in regions.bags.T:
            t += rows_of(self.word_weights, words)
        maxima, winners = strongest(t, regions.counts)
        maxima += self.bias
        directions, scale = self._directions(maxima)
        dropped, mask = Dropout(dropout).forward(directions, None, rng)
        outputs = dropped @ self.output_weights + self.output_bias
        return Responses(regions.bags, vectors, winners, maxima, scale, directions, mask, outputs)

    def outputs(self, texts: Sequence[NDArray[np.integer]]) -> NDArray:
        """Return the outputs (B, outputs) for texts. Each text is given as word ids (T,), with T at least 1.

        The outputs for a text do not depend on the other texts, not even in the last bit.
        """
        lengths = np.array([len(ids) for ids in texts])
        order = np.argsort(lengths, kind="stable")  # texts of equal length are processed together, which is faster
        lengths = lengths[order]
        ngram_indices = self.ngrams.find(np.concatenate([texts[text] for text in order.tolist()]), lengths)
        maxima = np.empty((len(texts), len(self.bias)), self.table.dtype)
        ends = np.cumsum(lengths)
        sizes = np.where(lengths > _CHUNK, _TOGETHER, lengths)  # a text longer than _CHUNK is a group by itself
        for group in slices_up_to(sizes, _TOGETHER):
            rows = slice(int(ends[group.start] - lengths[group.start]), int(ends[group.stop - 1]))
            maxima[order[group]] = self._maxima(ngram_indices[rows], lengths[group])
        return self.outputs_for(maxima)

    def outputs_for(self, maxima: NDArray) -> NDArray:
        """Return the outputs (B, outputs), given each filter's largest response before the bias is added, (B, F)."""
        directions, _ = self._directions(maxima + self.bias)
        layout = Layout(np.ones(len(directions), np.int64), separate_windows=True)
        return layout.product(directions, self.output_weights) + self.output_bias

    def _maxima(self, ngram_indices: NDArray[np.int32], lengths: NDArray[np.integer]) -> NDArray:
        """Return the largest response of each filter to each text, (B, F). See :meth:`responses`."""
        if len(lengths) == 1:
            return np.max([part.max(axis=0) for part in self.responses_in_parts(ngram_indices)], axis=0, keepdims=True)
        responses = self.responses(ngram_indices, lengths)
        return np.concatenate([of_texts.max(axis=1) for of_texts in Layout(lengths).stacks(responses)])

    def responses_in_parts(self, ngram_indices: NDArray[np.int32]) -> Iterator[NDArray]:
        """Given the n-gram indices (T, ORDER) of one text, yield the responses t (T, F), _CHUNK positions at a time."""
        for first in range(0, len(ngram_indices), _CHUNK):
            start = max(first - REACH, 0)
            near = ngram_indices[start : first + _CHUNK + REACH]
            yield self.responses(near, np.array([len(near)]))[first - start :][:_CHUNK]

    def responses(self, ngram_indices: NDArray[np.int32], lengths: NDArray[np.integer]) -> NDArray:
        """Return the responses t (N, F) at all positions.

        The responses to a text do not depend on other texts, not even in the last bit.

        Args:
            ngram_indices: (N, ORDER) for each word of the texts, the indices of the n-grams that end there, from
                :meth:`RegionNgrams.find`.
            lengths: (B,) number of words in each text.
        """
        layout = Layout(lengths, separate_windows=True)
        regions = regions_at(self.ngrams, self.table, ngram_indices, lengths)
        t = layout.product(regions.ngram_vectors, self.vector_weights[: self.table.shape[1]])
        t += self._word_responses.sums(regions.bags)
        return t

    @cached_property
    def _word_responses(self) -> WordResponses:
        return WordResponses(self.word_weights, self.word_vectors, self.vector_weights[self.table.shape[1] :])

    @property
    def parameters(self) -> int:
        """Number of learned values."""
        return sum(array.size for name, array in self.arrays().items() if name not in ("table", "word_vectors"))

    def as_float64(self) -> Self:
        """Return a copy that computes in float64."""
        arrays = {name: array.astype(np.float64) for name, array in self.arrays().items()}
        return type(self)(self.ngrams, **arrays, groups=self.groups)

    def arrays(self) -> dict[str, NDArray]:
        """Return the vectors of the n-grams and words, and the learned arrays, by name."""
        names = (item.name for item in fields(self))
        return {name: getattr(self, name) for name in names if name not in ("ngrams", "groups")}

    def _directions(self, maxima: NDArray) -> tuple[NDArray, NDArray]:
        """Return n and 1 / sqrt(1 + |h|^2), computed from the largest responses m. Each array is (B, F)."""
        h = np.maximum(maxima, 0)
        scale = 1 / np.sqrt(1 + self._inner(h, h))
        return h * scale, scale

    def _inner(self, a: NDArray, b: NDArray) -> NDArray:
        """Return the inner products of a and b, both (B, F), over the filters of each group.

        The result is (B, F): the inner product of a group is repeated for each of its filters.
        """
        shape = len(a), self.groups, -1
        products = np.einsum("bgf,bgf->bg", a.reshape(shape), b.reshape(shape))
        return np.repeat(products, a.shape[1] // self.groups, axis=1)

    def backward(self, dz: NDArray, cache: Responses) -> tuple[dict[str, NDArray], WordGradient]:
        """Return the gradients of all dense parameters by name, and the gradient of the word weights.

        Args:
            dz: (B, outputs) derivative of the loss with respect to the outputs.
            cache: result of :meth:`forward` for the same texts.
        """
        n, mask = cache.directions, cache.mask
        dn = dz @ self.output_weights.T
        if mask is not None:
            dn *= mask
        dh = (dn - n * self._inner(dn, n)) * cache.scale
        dm = np.where(cache.maxima > 0, dh, 0)
        dt = response_gradient(dm, cache.winners, len(cache.bags))
        gradients = {
            "output_weights": (n if mask is None else n * mask).T @ dz,
            "output_bias": dz.sum(axis=0),
            "bias": dm.sum(axis=0),
            "vector_weights": np.ascontiguousarray((dt @ cache.vectors).T),
        }
        return gradients, word_gradient(dt, cache.bags, len(self.word_weights))
