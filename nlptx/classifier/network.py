"""The text_features network: word vectors (+ ngram_features) -> encoder blocks -> one vector a text -> outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import CorruptError, SettingsError
from nlptx.nn import (
    LOSSES,
    POOLS,
    Dropout,
    EncoderBlock,
    FeedForward,
    Gradients,
    Layer,
    LayerNorm,
    Layout,
    LearnedPositions,
    Linear,
    MultiHeadAttention,
    PlainAttention,
    SinusoidalPositions,
)
from nlptx.settings import NetworkSettings


class Encoder(Layer):
    """From word vectors (N, R) to vectors in context (N, D).

    (projection, if R is not D) -> + positions -> dropout -> blocks -> (norm, after pre-norm blocks)

    Args:
        settings: its shape.
        components: R.
        rng: source of the initial weights.
    """

    def __init__(self, settings: NetworkSettings, components: int, rng: np.random.Generator) -> None:
        width = settings.width or components
        self.width = width
        self.projection = Linear(components, width, rng, bias=False) if width != components else None
        self.positions: Layer | None = None
        if settings.positions == "sinusoidal":
            self.positions = SinusoidalPositions()
        elif settings.positions == "learned":
            self.positions = LearnedPositions(settings.attention_window, width, rng)
        self.dropout = Dropout(settings.dropout)
        self.blocks = [_block(settings, width, rng) for _ in range(settings.blocks)]
        self.norm = LayerNorm(width, settings.norm_gain) if settings.norm == "pre" else None

    def _stages(self) -> list[tuple[str, Layer]]:
        stages: list[tuple[str, Layer | None]] = [
            ("projection", self.projection),
            ("positions", self.positions),
            ("dropout", self.dropout),
            *((f"block{i}", block) for i, block in enumerate(self.blocks)),
            ("norm", self.norm),
        ]
        return [(name, stage) for name, stage in stages if stage is not None]

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        return self._stages()

    def forward(self, x: NDArray, layout: Layout, rng: np.random.Generator | None) -> tuple[NDArray, Any]:
        caches = []
        for _, stage in self._stages():
            x, cache = stage.forward(x, layout, rng)
            caches.append(cache)
        return x, caches

    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        for _, stage in self._stages():
            x = stage.apply(x, layout)
        return x

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        for (_, stage), stage_cache in zip(reversed(self._stages()), reversed(cache), strict=True):
            dy = stage.backward(dy, stage_cache, grads)
        return dy

    def attention_weights(self, cache: Any) -> list[list[NDArray]]:
        """Return for each block the attention weights (n, H, T, T) of each run of a call."""
        named = zip(self._stages(), cache, strict=True)
        return [stage.attention_weights(c) for (_, stage), c in named if isinstance(stage, EncoderBlock)]


class Network(Layer):
    """The classifier: (+ evidence U) -> encoder -> pool -> dropout -> linear (+ evidence W).

    Two kinds of evidence can come from outside, see :mod:`nlptx.ngrams`. Features of each place have
    learned directions, the rows of U, added to the word vector as often as the feature says. Outputs of
    linear models of the whole text go through a linear map W, which starts as the mean of what they say, and
    are added to the outputs: the encoder learns what the linear models miss.

    Args:
        settings: its shape.
        components: R, length of the word vectors.
        classes: C.
        rng: source of the initial weights.
        token_feature_width: features of each place; 0 for none.
        text_feature_width: M E, outputs of M linear models; 0 for none.

    Raises:
        SettingsError: the settings do not fit each other or the data.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        components: int,
        classes: int,
        rng: np.random.Generator,
        token_feature_width: int = 0,
        text_feature_width: int = 0,
    ) -> None:
        if settings.loss == "squared-error" and classes != 2:
            raise SettingsError(f"--loss squared-error is for 2 labels; the data has {classes}")
        self.loss = LOSSES[settings.loss](classes)
        self.encoder = Encoder(settings, components, rng)
        self.pool = POOLS[settings.pool](self.encoder.width, settings.attention_window)
        self.dropout = Dropout(settings.dropout)
        self.head = Linear(self.pool.width, self.loss.outputs, rng)
        self.token_projection = (
            Linear(token_feature_width, components, rng, bias=False) if token_feature_width else None
        )
        self.text_projection = (
            Linear(text_feature_width, self.loss.outputs, rng, bias=False) if text_feature_width else None
        )
        if self.text_projection is not None:
            # Of two classes, one number speaks for the second and against the first.
            one = np.array([[-0.5, 0.5]]) if self.loss.outputs == 2 else np.eye(self.loss.outputs)
            models = text_feature_width // len(one)
            self.text_projection.weight.value[...] = np.tile(one, (models, 1)) / models

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        ngram_features = (("token_projection", self.token_projection), ("text_projection", self.text_projection))
        given = [(name, layer) for name, layer in ngram_features if layer is not None]
        return [("encoder", self.encoder), ("pool", self.pool), ("head", self.head), *given]

    def forward(
        self,
        x: NDArray,
        layout: Layout,
        rng: np.random.Generator | None,
        token_features: NDArray | None = None,
        text_features: NDArray | None = None,
    ) -> tuple[NDArray, Any]:
        """Return the outputs (B, outputs).

        Args:
            x: (N, R) word vectors.
            layout: of the batch.
            rng: for dropout; None outside training.
            token_features: (N, token_feature_width), if there are any.
            text_features: (B, text_feature_width), if there are any.
        """
        x = self._with_token_features(x, layout, token_features)
        x, encoder_cache = self.encoder.forward(x, layout, rng)
        x, pool_cache = self.pool.forward(x, layout, rng)
        x, dropout_cache = self.dropout.forward(x, layout, rng)
        x, head_cache = self.head.forward(x, layout.pooled)
        y = self._with_text_features(x, layout.pooled, text_features)
        return y, (encoder_cache, pool_cache, dropout_cache, head_cache, token_features, text_features)

    def apply(
        self, x: NDArray, layout: Layout, token_features: NDArray | None = None, text_features: NDArray | None = None
    ) -> NDArray:
        """Return the outputs (B, outputs) outside training; arguments as of :meth:`forward`."""
        return self.decide(
            self.pool.apply(self.encode(x, layout, token_features), layout), layout.pooled, text_features
        )

    def encode(self, x: NDArray, layout: Layout, token_features: NDArray | None = None) -> NDArray:
        """Return the vectors in context (N, D), before they are pooled."""
        return self.encoder.apply(self._with_token_features(x, layout, token_features), layout)

    def decide(self, x: NDArray, layout: Layout, text_features: NDArray | None = None) -> NDArray:
        """Return the outputs (B, outputs) for the pooled vectors of B texts."""
        return self._with_text_features(self.head.apply(x, layout), layout, text_features)

    def _with_token_features(self, x: NDArray, layout: Layout, token_features: NDArray | None) -> NDArray:
        return (
            x
            if self.token_projection is None or token_features is None
            else x + self.token_projection.apply(token_features, layout)
        )

    def _with_text_features(self, y: NDArray, layout: Layout, text_features: NDArray | None) -> NDArray:
        return (
            y
            if self.text_projection is None or text_features is None
            else y + self.text_projection.apply(text_features, layout)
        )

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        encoder_cache, pool_cache, dropout_cache, head_cache, token_features, text_features = cache
        # The evidence itself is given, so only its weights have gradients.
        if self.text_projection is not None and text_features is not None:
            grads.add(self.text_projection.weight, text_features.T @ dy)
        dy = self.head.backward(dy, head_cache, grads)
        dy = self.dropout.backward(dy, dropout_cache, grads)
        dy = self.pool.backward(dy, pool_cache, grads)
        dx = self.encoder.backward(dy, encoder_cache, grads)
        if self.token_projection is not None and token_features is not None:
            grads.add(self.token_projection.weight, token_features.T @ dx)
        return dx


def _block(settings: NetworkSettings, width: int, rng: np.random.Generator) -> EncoderBlock:
    feed_forward = FeedForward(width, settings.hidden or 4 * width, settings.activation, rng)
    norm = (width, settings.norm, settings.norm_gain, settings.dropout)
    return EncoderBlock(_attention(settings, width, rng), feed_forward, *norm)


def _attention(settings: NetworkSettings, width: int, rng: np.random.Generator) -> Layer:
    if settings.attention == "plain":
        return PlainAttention()
    head_width = width
    if settings.head_width == "narrow":
        if width % settings.heads:
            raise SettingsError(f"width {width} cannot be shared by {settings.heads} narrow heads")
        head_width = width // settings.heads
    return MultiHeadAttention(width, settings.heads, head_width, settings.attention == "scaled", rng)


class _Unset:
    """Stands in for a random generator where weights are about to be read: its arrays take no memory."""

    def uniform(self, low: float, high: float, size: tuple[int, ...]) -> NDArray:
        return np.lib.stride_tricks.as_strided(np.zeros(1), size, (0,) * len(size))

    normal = uniform


def unset_network(
    settings: NetworkSettings, components: int, classes: int, known: tuple[int, int], have: int
) -> Network:
    """Build the network of a file with ``have`` parameters, which are still to be set.

    Raises:
        CorruptError: it would need another number of them; found out before memory is taken for any.
    """
    width = settings.width or components
    outputs = 1 if settings.loss == "squared-error" else classes
    at_least = settings.blocks * 2 * width * (settings.hidden or 4 * width) + known[1] * outputs
    if not components or at_least > have:
        raise CorruptError(f"it has {have} parameters; its settings need more than {at_least}")
    network = Network(settings, components, classes, cast("np.random.Generator", _Unset()), *known)
    needed = sum(parameter.value.size for _, parameter in network.parameters())
    if needed != have:
        raise CorruptError(f"it has {have} parameters; its settings need {needed}")
    return network
