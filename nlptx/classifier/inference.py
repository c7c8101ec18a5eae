"""Computes the outputs of a trained network for encoded texts, in bounded memory.

The outputs for a text do not depend on the other texts in the batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.network import Network
from nlptx.ngrams import NgramFeatures
from nlptx.nn import Layout
from nlptx.runtime.slices import slices_up_to
from nlptx.settings import TrainSettings

# Maximum number of words in one pass through the network: large enough for efficient NumPy calls, and small enough for
# the arrays to fit in the cache of a core.
CHUNK = 2048
# Maximum number of words whose n-grams are looked up together: large enough that only a few passes over the known
# n-grams are needed, and small enough for the arrays to fit in the cache.
SPAN = 1 << 14
# Maximum absolute weight of a model that computes in float32. With larger weights, an overflow could go unnoticed,
# because layer norm turns an infinite variance into outputs of 0. Trained weights are far smaller than this maximum,
# but a file may contain any weights.
_MAX_WEIGHT = 1e4
# Maximum number of values in the pooled vectors of the texts that are processed together. With `pool=flatten`, the
# vector of a text has as many values as all word vectors of a window.
_MAX_POOLED = 1 << 22


class TrainedNetwork(Protocol):
    """A network with its settings, parameters, word vectors and n-gram features.

    See :class:`nlptx.classifier.model.Model`.
    """

    settings: TrainSettings
    network: Network
    flat: NDArray
    table: NDArray
    ngram_features: NgramFeatures | None


class NetworkInputs(NamedTuple):
    """Inputs of the network; see :meth:`nlptx.classifier.network.Network.forward`."""

    x: NDArray
    layout: Layout
    token_features: NDArray | None
    text_features: NDArray | None


def can_overflow(model: TrainedNetwork) -> bool:
    """Return whether any weight is so large that computing in float32 may overflow."""
    return are_too_large(
        [model.flat, model.table] + ([] if model.ngram_features is None else [model.ngram_features.ratios])
    )


def are_too_large(arrays: Iterable[NDArray]) -> bool:
    """Return whether any weight is too large for float32 arithmetic."""
    return not all(max(array.max(initial=0), -array.min(initial=0)) <= _MAX_WEIGHT for array in arrays)


def network_inputs(
    model: TrainedNetwork, encoded: Sequence[NDArray[np.int32]], *, separate_windows: bool = False
) -> NetworkInputs:
    """Return the inputs of the network for a batch of texts.

    Args:
        model: trained network.
        encoded: (T,) word ids of each text, at least one id per text.
        separate_windows: whether to compute matrix products separately for each window; see :class:`nlptx.nn.Layout`.
    """
    settings, ngram_features = model.settings, model.ngram_features
    layout = Layout(
        np.array([len(ids) for ids in encoded]), settings.attention_window, settings.causal, separate_windows
    )
    ids = np.concatenate(encoded)
    token_features = text_features = None
    if ngram_features is not None:
        ngrams = ngram_features.find(ids, layout.lengths)
        token_features = ngram_features.token_features_of(ngrams)
        text_features = ngram_features.text_features_of(ngrams, layout.lengths)
    return NetworkInputs(word_vectors(model, ids), layout, token_features, text_features)


def network_outputs(
    model: TrainedNetwork, encoded: Sequence[NDArray[np.int32]], *, separate_windows: bool = False
) -> NDArray:
    """Return the network outputs (B, outputs) for a batch of B texts.

    The arguments are those of :func:`network_inputs`.
    """
    with np.errstate(all="ignore"):  # an overflow leads to infinite or NaN outputs
        return model.network.apply(*network_inputs(model, encoded, separate_windows=separate_windows))


def infer(model: TrainedNetwork, encoded: Sequence[NDArray[np.int32]]) -> NDArray:
    """Return the network outputs (B, outputs) for B texts, each of which has at least one known word.

    Because words attend only to words in the same window, the windows of all texts can be sorted by length, and the
    encoder processes windows of equal length together. The pooling layer then merges the vectors of the windows of each
    text. The outputs for a text are bit for bit the same, whatever the other texts are.
    """
    network, settings, ngram_features = model.network, model.settings, model.ngram_features
    at_a_time = max(1, _MAX_POOLED // network.pool.width)
    if len(encoded) > at_a_time:
        groups = (encoded[first : first + at_a_time] for first in range(0, len(encoded), at_a_time))
        return np.concatenate([infer(model, group) for group in groups])
    texts = Layout(np.array([len(ids) for ids in encoded]), settings.attention_window)
    ids = np.concatenate(encoded)
    ngrams, text_features = np.empty((len(ids), 0), np.int32), None
    if ngram_features is not None:
        ngrams, text_features = _ngram_features(ngram_features, ids, texts)
    lengths = texts.windows
    starts = np.cumsum(lengths) - lengths
    parts = np.empty((len(lengths), network.pool.width), model.flat.dtype)
    log_weights = np.empty(len(lengths))
    for rows in _passes(lengths):
        layout = Layout(lengths[rows], settings.attention_window, settings.causal, separate_windows=True)
        words = np.arange(layout.tokens) + np.repeat(starts[rows] - layout.starts, layout.lengths)
        token_features = None if ngram_features is None else ngram_features.token_features_of(ngrams[words])
        x = network.encode(word_vectors(model, ids[words]), layout, token_features)
        parts[rows] = network.pool.apply(x, layout)
        log_weights[rows] = network.pool.log_weights(x, layout)
    y = network.pool.merge(parts, log_weights, Layout(texts.windows_per_text))
    return network.apply_head(y, Layout(np.ones(len(y), np.int64), separate_windows=True), text_features)


def word_vectors(model: TrainedNetwork, ids: NDArray[np.int32]) -> NDArray:
    """Return the word vectors (N, R) of N word ids, in the dtype of the parameters."""
    return model.table.take(ids, axis=0).astype(model.flat.dtype, copy=False)


def _passes(lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Sort windows by length, divide them into passes through the encoder, and yield the window indices of each pass.

    A pass has at most CHUNK words, unless it consists of a single longer window.
    """
    order = np.argsort(lengths, kind="stable")
    for rows in slices_up_to(lengths[order], CHUNK):
        yield order[rows]


def _ngram_features(
    ngram_features: NgramFeatures, ids: NDArray[np.int32], texts: Layout
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Look up the n-grams of texts, and compute the text features.

    Returns:
        For each word, the indices (N, order) of the n-grams of 1 to ``order`` words that end there; and the text
        features (texts, M E).
    """
    ngrams = np.empty((len(ids), ngram_features.order), np.int32)
    text_features = np.empty((len(texts.lengths), len(ngram_features.bias)), np.float32)
    for rows in slices_up_to(texts.lengths, SPAN):
        lengths = texts.lengths[rows]
        first = int(texts.starts[rows][0])
        end = first + int(lengths.sum())
        if end - first <= SPAN:
            ngrams[first:end] = ngram_features.find(ids[first:end], lengths)
            text_features[rows] = ngram_features.text_features_of(ngrams[first:end], lengths)
            continue
        present = np.zeros(len(ngram_features.keys) + 1, bool)
        for start in range(first, end, SPAN):
            stop = min(start + SPAN, end)
            before = max(first, start - ngram_features.order + 1)  # n-grams that end in this span may begin before it
            ngrams[start:stop] = ngram_features.find(ids[before:stop], [stop - before])[start - before :]
            present[ngrams[start:stop]] = True
        distinct = np.flatnonzero(present[:-1])[:, None]
        text_features[rows] = ngram_features.text_features_of(distinct, [len(distinct)], [end - first])
    return ngrams, text_features
