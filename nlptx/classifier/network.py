"""The complete network: word vectors (+ n-gram features) -> encoder -> one vector per text -> outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.encoder import Encoder
from nlptx.classifier.scores import to_outputs
from nlptx.errors import CorruptError, SettingsError
from nlptx.ngrams import NgramFeatures
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.nn import LOSSES, POOLS, Dropout, Gradients, Layer, Layout, Linear, WeightedSum
from nlptx.settings import NetworkSettings


def check_number_of_labels(loss: str, labels: int) -> None:
    """Raise SettingsError if the loss is not defined for this number of labels."""
    if loss == "squared-error" and labels != 2:
        raise SettingsError(f"`loss=squared-error` is for 2 labels; the data has {labels:,}")


class Network(Layer):
    """The network that maps the word vectors of texts to outputs, from which the loss computes probabilities.

        x + token_features U -> encoder -> pool -> dropout -> linear -> outputs + text_features W

    The features come from n-grams (see :mod:`nlptx.ngrams`) and are optional. Token features are multiplied by the
    learned matrix U and added to the word vectors. Text features are the outputs of M linear models, each of which has
    E outputs. Text features are multiplied by the learned matrix W and added to the outputs of the network. Initially,
    W averages the outputs of the linear models, so that the encoder learns to correct their errors.

    If the model is multi-label, or if there are so many classes that each has a linear model of its own
    (:mod:`nlptx.ngrams.sparse_cross_fit`), each text feature belongs to one class. W connects such a feature only to
    the output of its class, so the size of W is proportional to the number of classes.

    Args:
        settings: architecture of the network.
        components: R, the length of the word vectors.
        classes: C, the number of labels.
        rng: source of randomness for the initial weights.
        token_feature_width: number of features of a token; 0 for none.
        text_feature_width: M E, the number of features of a text; 0 for none.
        per_class: whether a text feature affects only the output of its own class. In a multi-label network, every text
            feature affects only the output of its own class, even if ``per_class`` is False.

    Raises:
        SettingsError: the settings are inconsistent, or contradict the number of classes.
    """

    def __init__(
        self,
        settings: NetworkSettings,
        components: int,
        classes: int,
        rng: np.random.Generator,
        token_feature_width: int = 0,
        text_feature_width: int = 0,
        per_class: bool = False,
    ) -> None:
        check_number_of_labels(settings.loss, classes)
        self.loss = LOSSES[settings.loss](classes)
        self.encoder = Encoder(settings, components, rng)
        self.pool = POOLS[settings.pool](self.encoder.width, settings.attention_window)
        self.dropout = Dropout(settings.dropout)
        self.head = Linear(self.pool.width, self.loss.outputs, rng)
        self.token_projection: Linear | None = None
        self.text_projection: Linear | WeightedSum | None = None
        if token_feature_width:
            self.token_projection = Linear(token_feature_width, components, rng, bias=False)  # U
        if text_feature_width and (self.loss.independent or per_class):
            self.text_projection = WeightedSum(text_feature_width // classes, classes)  # W
        elif text_feature_width:
            self.text_projection = Linear(text_feature_width, self.loss.outputs, rng, bias=False)  # W
            # Initially, W adds the mean of the scores of the linear models to the outputs.
            of_scores = to_outputs(self.loss)
            models = text_feature_width // len(of_scores)
            self.text_projection.weight.value[...] = np.tile(of_scores, (models, 1)) / models

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        features = (("token_projection", self.token_projection), ("text_projection", self.text_projection))
        present = [(name, layer) for name, layer in features if layer is not None]
        return [("encoder", self.encoder), ("pool", self.pool), ("head", self.head), *present]

    def forward(
        self,
        x: NDArray,
        layout: Layout,
        rng: np.random.Generator | None,
        token_features: NDArray | None = None,
        text_features: NDArray | None = None,
    ) -> tuple[NDArray, Any]:
        """Return the outputs, (B, outputs), and the cache that :meth:`backward` needs.

        Args:
            x: (N, R) word vectors.
            layout: which rows of ``x`` belong to which text.
            rng: source of randomness for dropout; None outside training.
            token_features: (N, token_feature_width), or None.
            text_features: (B, text_feature_width), or None.
        """
        x = self._add_token_features(x, layout, token_features)  # (N, R)
        x, encoder_cache = self.encoder.forward(x, layout, rng)  # (N, D)
        x, pool_cache = self.pool.forward(x, layout, rng)  # (B, pool.width)
        x, dropout_cache = self.dropout.forward(x, layout, rng)
        x, head_cache = self.head.forward(x, layout.pooled)  # (B, outputs)
        y = self._add_text_features(x, layout.pooled, text_features)
        return y, (encoder_cache, pool_cache, dropout_cache, head_cache, token_features, text_features)

    def apply(
        self, x: NDArray, layout: Layout, token_features: NDArray | None = None, text_features: NDArray | None = None
    ) -> NDArray:
        """Return the outputs, (B, outputs), without dropout. The arguments are those of :meth:`forward`."""
        pooled = self.pool.apply(self.encode(x, layout, token_features), layout)  # (B, pool.width)
        return self.apply_head(pooled, layout.pooled, text_features)

    def encode(self, x: NDArray, layout: Layout, token_features: NDArray | None = None) -> NDArray:
        """Return the contextual vectors, (N, D), before pooling."""
        return self.encoder.apply(self._add_token_features(x, layout, token_features), layout)

    def apply_head(self, x: NDArray, layout: Layout, text_features: NDArray | None = None) -> NDArray:
        """Return the outputs, (B, outputs), for the pooled vectors of B texts."""
        return self._add_text_features(self.head.apply(x, layout), layout, text_features)

    def _add_token_features(self, x: NDArray, layout: Layout, token_features: NDArray | None) -> NDArray:
        if self.token_projection is None or token_features is None:
            return x
        return x + self.token_projection.apply(token_features, layout)

    def _add_text_features(self, y: NDArray, layout: Layout, text_features: NDArray | None) -> NDArray:
        if self.text_projection is None or text_features is None:
            return y
        return y + self.text_projection.apply(text_features, layout)

    # For y = x + features W, the gradient of x is that of y. The features are fixed, so they need no gradient.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        encoder_cache, pool_cache, dropout_cache, head_cache, token_features, text_features = cache
        if self.text_projection is not None and text_features is not None:
            self.text_projection.backward(dy, text_features, grads)
        dy = self.head.backward(dy, head_cache, grads)  # (B, pool.width)
        dy = self.dropout.backward(dy, dropout_cache, grads)
        dy = self.pool.backward(dy, pool_cache, grads)  # (N, D)
        dx = self.encoder.backward(dy, encoder_cache, grads)  # (N, R)
        if self.token_projection is not None and token_features is not None:
            grads.add(self.token_projection.weight, token_features.T @ dx)
        return dx


class _NoGenerator:
    """Replaces the random generator if the weights come from a file.

    To save memory, ``uniform`` and ``normal`` return views of a single 0.
    """

    def uniform(self, low: float, high: float, size: tuple[int, ...]) -> NDArray:
        return np.lib.stride_tricks.as_strided(np.zeros(1), size, (0,) * len(size))

    normal = uniform


def uninitialized_network(
    settings: NetworkSettings, components: int, classes: int, feature_widths: FeatureWidths, parameters: int
) -> Network:
    """Build the network of a model file without setting its parameters.

    Args:
        settings: architecture of the network.
        components: R, the length of the word vectors.
        classes: C, the number of labels.
        feature_widths: number of n-gram features per token and per text; see :class:`FeatureWidths`.
        parameters: P, the number of parameters in the file.

    Raises:
        CorruptError: the settings require more or fewer than P parameters. Memory is allocated only after this check.
    """
    width = settings.width or components
    # W has one weight per text feature if there is a single output, or if each feature affects only the output of its
    # class; otherwise, W has one weight for each pair of a text feature and a class.
    one_output = settings.loss == "squared-error" or LOSSES[settings.loss].independent or feature_widths.per_class
    text_weights = feature_widths.of_text * (1 if one_output else classes)
    min_parameters = settings.blocks * 2 * width * (settings.hidden or 4 * width) + text_weights
    if not components or min_parameters > parameters:
        raise CorruptError(f"it has {parameters} parameters; its settings need at least {min_parameters}")
    network = Network(settings, components, classes, cast("np.random.Generator", _NoGenerator()), *feature_widths)
    needed = sum(parameter.value.size for _, parameter in network.parameters())
    if needed != parameters:
        raise CorruptError(f"it has {parameters} parameters; its settings need {needed}")
    return network


class FeatureWidths(NamedTuple):
    """Number of n-gram features per token and per text, and ``per_class``: the last three arguments of ``Network``."""

    of_token: int
    of_text: int
    per_class: bool


def feature_widths(ngram_features: NgramFeatures | None) -> FeatureWidths:
    """Return the number of n-gram features per token and per text; both are 0 if there are no n-gram features."""
    if ngram_features is None:
        return FeatureWidths(0, 0, per_class=False)
    of_token, of_text = ngram_features.order * ngram_features.width, len(ngram_features.bias)
    return FeatureWidths(of_token, of_text, isinstance(ngram_features, SparseNgramFeatures))
