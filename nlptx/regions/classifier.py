"""A classifier that finds the strongest region of a text for each of many filters.

The region at position p of a text consists of a bag of three words and of the n-grams in the five words around p. With
the word weights w of filter f, the unit vector v_p of the n-grams (the sum of their vectors, divided by its length) and
the vector weights q, its response is

    t_pf = sum of w_if over the words i of the bag + sum_r v_pr q_rf.

Only the strongest response in the whole text counts:

    m_f = max_p t_pf + b_f        h_f = max(m_f, 0)        n = h / sqrt(1 + |h|^2)        z = dropout(n) U + c.

z are the outputs, with the same meaning as those of the network. n has a length below 1, whatever the number of words.
A trained classifier consists of several groups of filters, trained separately; each group has its own n, and z is the
sum over the groups.

Because of the maximum, the gradient of a filter reaches one region per text, so the backward pass is cheap:

    dn = dz U^T                              (0 where dropped)
    dh = (dn - n (n . dn)) / sqrt(1 + |h|^2)      because dn_f / dh_g = (1[f = g] - n_f n_g) / sqrt(1 + |h|^2)
    dm_f = dh_f if m_f > 0, else 0
    db_f = dm_f        dq_rf = v_pr dm_f        dw_if = dm_f for each word i of the bag at the winning position p.

Source: Johnson & Zhang (2015), "Effective Use of Word Order for Text Categorization with Convolutional Neural Networks"
and "Semi-supervised Convolutional Neural Networks for Text Categorization via Region Embedding".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.nn import Dropout, Layout
from nlptx.regions.ngrams import REACH, RegionNgrams
from nlptx.regions.spacing import in_groups
from nlptx.regions.winners import WordGradient, strongest, vector_gradient, word_gradient

# Added to the squared length of the vector of a region, which is 0 if the region has no known n-gram.
_EPSILON = 1e-6
# Maximum number of positions whose vectors are computed together for scoring.
_CHUNK = 1 << 8


class Responses(NamedTuple):
    """What :meth:`RegionClassifier.forward` computed.

    Args:
        bags: (N, BAG) words of the bag at each position.
        vectors: (N, R) unit vectors of the regions.
        winners: (B, F) position of the strongest region of each filter, counted through all texts.
        maxima: (B, F) m.
        scale: (B, F) 1 / sqrt(1 + |h|^2).
        directions: (B, F) n.
        mask: (B, F) factor of each entry of n in dropout, or None.
        outputs: (B, outputs) z.
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
class RegionClassifier:
    """The parameters, and the forward and backward pass.

    Args:
        ngrams: known n-grams.
        table: (G, R) vectors of the n-grams; not trained.
        word_weights: (W, F) w.
        vector_weights: (R, F) q.
        bias: (F,) b.
        output_weights: (F, outputs) U.
        output_bias: (outputs,) c.
        groups: number of groups of filters. They have the same size.
    """

    ngrams: RegionNgrams
    table: NDArray
    word_weights: NDArray
    vector_weights: NDArray
    bias: NDArray
    output_weights: NDArray
    output_bias: NDArray
    groups: int = 1

    def forward(
        self,
        texts: Sequence[NDArray[np.integer]],
        dropout: float = 0.0,
        rng: np.random.Generator | None = None,
    ) -> Responses:
        """Compute the outputs for texts, each given as word ids (T,) with T at least 1."""
        lengths = np.array([len(ids) for ids in texts])
        found = self.ngrams.find(np.concatenate(texts), lengths)
        bags = self.ngrams.bags(found, lengths)
        vectors = self._unit_vectors(found, lengths)
        t = vectors @ self.vector_weights
        t += self.ngrams.sums_of_bags(self.word_weights, found, lengths)
        maxima, winners = strongest(t, lengths)
        maxima += self.bias
        directions, scale = self._directions(maxima)
        dropped, mask = Dropout(dropout).forward(directions, None, rng)
        outputs = dropped @ self.output_weights + self.output_bias
        return Responses(bags, vectors, winners, maxima, scale, directions, mask, outputs)

    def outputs(self, texts: Sequence[NDArray[np.integer]]) -> NDArray:
        """Return the outputs (B, outputs) for texts, each given as word ids (T,) with T at least 1.

        No bit of the outputs for a text depends on the other texts.
        """
        order = sorted(
            range(len(texts)), key=lambda text: len(texts[text])
        )  # texts of equal length are faster together
        maxima = np.empty((len(texts), len(self.bias)), self.table.dtype)
        maxima[order] = np.concatenate(
            [self._maxima(group) for group in in_groups([texts[text] for text in order], _CHUNK)]
        )
        return self.outputs_of(maxima)

    def outputs_of(self, maxima: NDArray) -> NDArray:
        """Return the outputs (B, outputs) for the largest responses of each text, before the bias is added, (B, F)."""
        directions, _ = self._directions(maxima + self.bias)
        apart = Layout(np.ones(len(directions), np.int64), apart=True)
        return apart.product(directions, self.output_weights) + self.output_bias

    def _maxima(self, texts: Sequence[NDArray[np.integer]]) -> NDArray:
        """Return the largest response of each filter to each text, (B, F)."""
        lengths = np.array([len(ids) for ids in texts])
        if lengths.max() <= _CHUNK:
            found = self.ngrams.find(np.concatenate(texts), lengths)
            layout = Layout(lengths, apart=True)
            t = layout.product(self._unit_vectors(found, lengths), self.vector_weights)
            t += self.ngrams.sums_of_bags(self.word_weights, found, lengths)
            return np.maximum.reduceat(t, layout.starts, axis=0)
        maxima = np.full((len(texts), len(self.bias)), -np.inf, self.table.dtype)
        for text, t in self.responses(np.concatenate(texts), lengths):
            np.maximum(maxima[text], t.max(axis=0), out=maxima[text])
        return maxima

    def responses(self, ids: NDArray[np.integer], lengths: NDArray[np.integer]) -> Iterator[tuple[int, NDArray]]:
        """Yield the number of each text and its responses t (T, F), in several parts if it is long.

        Args:
            ids: (N,) word ids of the texts, concatenated.
            lengths: (B,) number of words in each text.
        """
        found = self.ngrams.find(ids, lengths)
        ends = np.cumsum(lengths)
        for parts in _chunks(lengths):
            (first_text, first, _), (last_text, _, last) = parts[0], parts[-1]
            # The first or the last part may be a part of a long text. The words next to it belong to its regions too.
            before = min(REACH, first - int(ends[first_text] - lengths[first_text]))
            after = min(REACH, int(ends[last_text]) - last)
            sizes = np.array([end - start for _, start, end in parts])
            sizes[0] += before
            sizes[-1] += after
            near = found[first - before : last + after]
            vectors = self._unit_vectors(near, sizes)
            of_words = self.ngrams.sums_of_bags(self.word_weights, near, sizes)
            for text, start, end in parts:
                rows = slice(start - first + before, end - first + before)
                # a separate product for each text, because a BLAS may add in an order that depends on the size
                yield text, vectors[rows] @ self.vector_weights + of_words[rows]

    def _unit_vectors(self, found: NDArray[np.int32], lengths: NDArray[np.integer]) -> NDArray:
        """Return v (N, R) for the n-grams that end at each word, (N, ORDER), of texts with these lengths."""
        vectors = self.ngrams.sums_around(self.table, found, lengths)
        vectors /= np.sqrt(np.einsum("nr,nr->n", vectors, vectors) + self.table.dtype.type(_EPSILON))[:, None]
        return vectors

    @property
    def parameters(self) -> int:
        """Number of learned values."""
        return sum(array.size for name, array in self.arrays().items() if name != "table")

    def as_float64(self) -> Self:
        """Return a copy that computes in float64."""
        arrays = {name: array.astype(np.float64) for name, array in self.arrays().items()}
        return type(self)(self.ngrams, **arrays, groups=self.groups)

    def arrays(self) -> dict[str, NDArray]:
        """Return the vectors of the n-grams and the learned arrays, by name."""
        names = (item.name for item in fields(self))
        return {name: getattr(self, name) for name in names if name not in ("ngrams", "groups")}

    def _directions(self, maxima: NDArray) -> tuple[NDArray, NDArray]:
        """Return n and 1 / sqrt(1 + |h|^2) for m; the shape of each is (B, F)."""
        h = np.maximum(maxima, 0)
        scale = 1 / np.sqrt(1 + self._inner(h, h))
        return h * scale, scale

    def _inner(self, a: NDArray, b: NDArray) -> NDArray:
        """Return, for each text and filter, the inner product of a and b (B, F) over the filters of its group."""
        shape = len(a), self.groups, -1
        products = np.einsum("bgf,bgf->bg", a.reshape(shape), b.reshape(shape))
        return np.repeat(products, a.shape[1] // self.groups, axis=1)

    def backward(self, dz: NDArray, cache: Responses) -> tuple[dict[str, NDArray], WordGradient]:
        """Return the gradients of all dense parameters by name, and that of the word weights.

        Args:
            dz: (B, outputs) derivative of the loss with respect to the outputs.
            cache: what :meth:`forward` returned.
        """
        n, mask = cache.directions, cache.mask
        dn = dz @ self.output_weights.T
        if mask is not None:
            dn *= mask
        dh = (dn - n * self._inner(dn, n)) * cache.scale
        dm = np.where(cache.maxima > 0, dh, 0)
        gradients = {
            "output_weights": (n if mask is None else n * mask).T @ dz,
            "output_bias": dz.sum(axis=0),
            "bias": dm.sum(axis=0),
            "vector_weights": vector_gradient(dm, cache.winners, cache.vectors),
        }
        return gradients, word_gradient(dm, cache.winners, cache.bags, len(self.word_weights))


def _chunks(lengths: NDArray[np.integer]) -> Iterator[list[tuple[int, int, int]]]:
    """Yield lists of consecutive parts (text, first row, row after the last one) with about _CHUNK rows together.

    A text of more than _CHUNK words is cut into parts of _CHUNK words.
    """
    parts: list[tuple[int, int, int]] = []
    start = 0
    for text, length in enumerate(lengths.tolist()):
        for first in range(start, start + length, _CHUNK):
            parts.append((text, first, min(first + _CHUNK, start + length)))
            if parts[-1][2] - parts[0][1] >= _CHUNK:
                yield parts
                parts = []
        start += length
    if parts:
        yield parts
