"""Leave-one-out: computes the network outputs for a text with each of its words left out in turn.

The time is proportional to the length of the text. Because words attend only to words in the same window, only the
window of the left-out word is encoded again. The vectors of all other windows are kept, although n-grams that include
the left-out word may end in the next window.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.inference import CHUNK, TrainedNetwork, word_vectors
from nlptx.ngrams.leave_one_out import features_without_each
from nlptx.nn import Layout
from nlptx.nn.pooling import Pool


def network_outputs_without_each(model: TrainedNetwork, ids: NDArray[np.int32], windows: NDArray[np.int64]) -> NDArray:
    """Return the network outputs (T, outputs); row t contains the outputs for the text without word t.

    Args:
        model: trained network.
        ids: (T,) word ids of the text, at least two.
        windows: (W,) number of words in each window; the sum is T.
    """
    text = EncodedText.of(model, ids, windows)
    next_ngrams, text_features = np.empty((len(ids), 0, 0), np.int64), None
    if model.ngram_features is not None:
        next_ngrams, text_features = features_without_each(model.ngram_features, ids, text.ngrams)
    complete = [text.pooled(ids[None, span], text.ngrams[None, span]) for span in text.spans if len(text.spans) > 1]
    merger = _WindowMerger(model.network.pool, complete)
    y = np.concatenate(
        [
            merger.merge(number, parts)
            for number, span in enumerate(text.spans)
            for parts in _window_without_each(text, next_ngrams, span)
        ]
    )
    return model.network.apply_head(y, Layout(np.ones(len(y), np.int64), separate_windows=True), text_features)


class Parts(NamedTuple):
    """Pooled vectors (n, width) of n windows, and the log-weight (n,) of each window, for merging windows of a text."""

    vectors: NDArray
    log_weights: NDArray


@dataclass(frozen=True)
class EncodedText:
    """A text as input to the network: its words, n-grams and windows.

    Args:
        model: trained network.
        ids: (T,) word ids of the text.
        ngrams: (T, order) for each word, the indices of the n-grams of 1 to ``order`` words that end there; ``order``
            is 0 without n-gram features.
        spans: slice of ``ids`` for each window.
    """

    model: TrainedNetwork
    ids: NDArray[np.int32]
    ngrams: NDArray[np.int32]
    spans: list[slice]

    @classmethod
    def of(cls, model: TrainedNetwork, ids: NDArray[np.int32], windows: NDArray[np.int64]) -> Self:
        """Look up the n-grams of a text, and return the text as input to the network.

        The arguments are those of :func:`network_outputs_without_each`.
        """
        features = model.ngram_features
        ngrams = np.empty((len(ids), 0), np.int32) if features is None else features.find(ids, [len(ids)])
        ends = np.cumsum(windows).tolist()
        return cls(model, ids, ngrams, [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)])

    def inputs(self, ids: NDArray[np.int32], ngrams: NDArray[np.int32]) -> tuple[NDArray, Layout, NDArray | None]:
        """Return the word vectors, the layout and the token features of n windows of T words.

        Args:
            ids: (n, T) word ids.
            ngrams: (n, T, order) for each word, the indices of the n-grams of 1 to ``order`` words that end there.
        """
        settings, features = self.model.settings, self.model.ngram_features
        layout = Layout(
            np.full(len(ids), ids.shape[1]), settings.attention_window, settings.causal, separate_windows=True
        )
        indices = ngrams.reshape(layout.tokens, ngrams.shape[2])
        token_features = None if features is None else features.token_features_of(indices)
        return word_vectors(self.model, ids.ravel()), layout, token_features

    def pooled(self, ids: NDArray[np.int32], ngrams: NDArray[np.int32]) -> Parts:
        """Return the pooled vectors of n windows. The arguments are those of :meth:`inputs`."""
        x, layout, token_features = self.inputs(ids, ngrams)
        x = self.model.network.encode(x, layout, token_features)
        pool = self.model.network.pool
        return Parts(pool.apply(x, layout), pool.log_weights(x, layout))


def _window_without_each(text: EncodedText, next_ngrams: NDArray[np.int64], span: slice) -> Iterator[Parts]:
    """Yield the pooled vectors of a window with each of its words left out in turn, several vectors at a time.

    A window of one word becomes empty when this word is left out. An empty window has weight 0 and no pooled vector.
    """
    length = span.stop - span.start
    if length == 1:
        yield Parts(np.empty((0, 0)), np.full(1, -np.inf))
        return
    step = max(CHUNK // length, 1)
    for first in range(0, length, step):
        left_out = np.arange(first, min(first + step, length))  # (n,)
        kept = np.arange(length - 1)
        kept = span.start + kept + (kept >= left_out[:, None])  # (n, length - 1), positions in the text
        ngrams = text.ngrams[kept]  # (n, length - 1, order)
        for distance in range(1, next_ngrams.shape[1] + 1):
            rows = np.flatnonzero(left_out + distance < length)
            words = left_out[rows]
            ngrams[rows, words + distance - 1] = next_ngrams[span.start + words, distance - 1]
        yield text.pooled(text.ids[kept], ngrams)


class _WindowMerger:
    """Merges versions of a window, each of which lacks one word, with the other windows of the text.

    Args:
        pool: the pooling layer.
        windows: pooled vector and log-weight of each window with all its words; may be empty if the text has only one
            window.
    """

    def __init__(self, pool: Pool, windows: list[Parts]) -> None:
        self.pool = pool
        self.before: list[Parts | None] = [None]  # for each window, the result of merging all windows before it
        for window in windows[:-1]:
            self.before.append(self._merged([self.before[-1], window]))
        self.after: list[Parts | None] = [None]
        for window in windows[:0:-1]:
            self.after.append(self._merged([window, self.after[-1]]))
        self.after.reverse()

    def merge(self, number: int, versions: Parts) -> NDArray:
        """Return the vectors (n, width) of n versions of the text, which differ only in window ``number``."""
        own = versions if len(versions.vectors) else None
        count = len(versions.log_weights)
        around = [
            None
            if other is None
            else Parts(np.repeat(other.vectors, count, axis=0), np.repeat(other.log_weights, count))
            for other in (self.before[number], self.after[number])
        ]
        return self._merged([around[0], own, around[1]]).vectors

    def _merged(self, sequence: list[Parts | None]) -> Parts:
        """Merge the windows of each of n texts into one.

        Each item of ``sequence`` contains one window of each text, which can be the result of an earlier merge.
        """
        parts = [part for part in sequence if part is not None]
        log_weights = np.stack([part.log_weights for part in parts], axis=1)  # (n, parts)
        vectors = np.stack([part.vectors for part in parts], axis=1)  # (n, parts, width)
        layout = Layout(np.full(len(vectors), len(parts)))
        merged = self.pool.merge(vectors.reshape(layout.tokens, -1), log_weights.ravel(), layout)
        return Parts(merged, np.logaddexp.reduce(log_weights, axis=1))
