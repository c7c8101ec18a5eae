"""Starting from a trained model (``--start``) instead of word vectors.

Words, word vectors, encoder and n-gram features of the model are kept. A correction to its outputs is fitted on the new
texts (:mod:`nlptx.ngrams.adaptation`) and becomes part of the head and of the weights of the n-grams. Then the network
is trained as usual. A label that the model already has keeps its output weights; those of a new label start at 0.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.inference import network_inputs
from nlptx.classifier.label_types import Label
from nlptx.classifier.model import Model
from nlptx.errors import SettingsError
from nlptx.ngrams import LARGEST_VOCABULARY, NgramFeatures, feature_width
from nlptx.ngrams.adaptation import Correction, cross_fit_correction, ngram_rows
from nlptx.ngrams.extension import with_ngrams, with_outputs, with_words
from nlptx.runtime.workers import Workers
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import NetworkSettings, TrainSettings
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset
from nlptx.training.encoding import EncodedTexts
from nlptx.training.initialization import initial_model

# Prior standard deviations of the weights of the correction: those for the outputs of the model, and those for the
# pooled vectors that its head sees, scaled to a standard deviation of 1.
_OUTPUT_SCALE, _POOLED_SCALE = 0.1**0.5, 0.1
# Number of texts with which the network is trained at half the given learning rate.
_TEXTS_FOR_HALF_RATE = 1000
# Default of ``--ngram-min-texts``: 1 for up to _FEW_TEXTS texts, because the prior keeps the weights of rare n-grams
# small, and otherwise 2, because most n-grams of many texts occur in only one of them.
_FEW_TEXTS = 10_000
# Number of texts per pass through the network.
_TOGETHER = 8


def settings_from(start: Model, given: TrainSettings) -> TrainSettings:
    """Return ``given`` with the network shape and the n-gram settings of a model.

    Raises:
        SettingsError: a given setting is neither the default nor that of the model.
    """
    kept = {item.name: getattr(start.settings, item.name) for item in fields(NetworkSettings) if item.name != "dropout"}
    if start.ngram_features is not None:
        kept["ngrams"] = start.ngram_features.order
    for item in fields(given):
        value = getattr(given, item.name)
        if item.name in kept and value not in (item.default, kept[item.name]):
            raise SettingsError(
                f"`{item.name}` is {value!r}; the model to start from has {kept[item.name]!r}",
                hint=f"Leave `{item.name}` out, or train from word vectors.",
            )
    if given.pretrain:
        raise SettingsError("`pretrain` trains a new network; a model to start from needs none")
    return replace(given, **kept)


def with_slower_network(settings: TrainSettings, texts: int) -> TrainSettings:
    """Return settings with the learning rate n / (n + 1000) lr for n texts, so that a few texts change little."""
    return replace(settings, lr=settings.lr * texts / (texts + _TEXTS_FOR_HALF_RATE))


def with_vectors_of(start: Model, encoded: EncodedTexts) -> EncodedTexts:
    """Return encoded texts with the exact word vectors of a model; new words keep the zero vector."""
    vectors = encoded.vectors.copy()
    vectors[: len(start.table)] = start.table
    return replace(encoded, vectors=vectors)


def start_from(
    start: Model,
    data: Dataset,
    encoded: EncodedTexts,
    labels: list[Label],
    settings: TrainSettings,
    context: TrainingContext,
) -> tuple[Model, Dataset]:
    """Return a model that starts from another one, and the data with n-gram features to train it on.

    Args:
        start: trained model.
        data: training and validation texts.
        encoded: all texts, with the vocabulary and the vectors of the model and of new words.
        labels: label of each class.
        settings: settings from :func:`settings_from`.
        context: seed, workers and callbacks.

    Raises:
        SettingsError: the words are too many for n-grams.

    Its settings have a lower learning rate (:func:`with_slower_network`).
    """
    words = len(encoded.vocabulary)
    if settings.ngrams and words > LARGEST_VOCABULARY:
        raise SettingsError(
            f"{words:,} words are too many for n-grams; at most {LARGEST_VOCABULARY:,} are possible",
            hint="Give a higher `new_word_min_count`.",
        )
    known = None if start.ngram_features is None else with_words(start.ngram_features, words)
    before = replace(start, vocabulary=encoded.vocabulary, table=encoded.vectors, ngram_features=known)
    texts = data.train.texts()
    pooled, scores = _look_at(before, texts.ids, context.workers)
    matched = _match(start.label_names, encoded.labels)
    _note_labels(start.label_names, encoded.labels, context)
    min_texts = settings.ngram_min_texts or (1 if len(texts) <= _FEW_TEXTS else 2)
    ngrams = ngram_rows(data.train.ids, len(texts), settings.ngrams, words, min_texts, texts.weights)
    scale = _Scale.of(pooled, texts.weights)
    correction, added = cross_fit_correction(
        ngrams,
        scores @ matched,
        np.hstack([scores * _OUTPUT_SCALE, scale.apply(pooled)]),
        texts.targets,
        np.array([*range(len(texts)), *(passage.text for passage in data.passages)], np.intp),
        generator(context.seed, Stream.FOLDS),
        context.workers,
        context.report,
        texts.weights,
    )
    change = matched + _OUTPUT_SCALE * correction.weights[: len(matched)]  # (E0, E) from old scores to new ones
    folded = _fold(before, change, settings, words, len(labels))
    ngram_features = None if folded is None else with_ngrams(folded, ngrams.keys, correction.products)
    model = initial_model(
        encoded.vocabulary,
        encoded.vectors,
        labels,
        encoded.values,
        encoded.priors,
        with_slower_network(settings, len(texts)),
        context.seed,
        ngram_features,
    )
    _set_weights(model, before, change, correction, scale)
    if folded is None:
        return model, data
    rest = np.zeros((len(added), len(folded.bias) - added.shape[1]), np.float32)
    of_examples = [
        folded.of(ids).minus(-more) for ids, more in zip(data.train.ids, np.hstack([added, rest]), strict=True)
    ]
    return model, replace(data, train=replace(data.train, ngram_features=of_examples))


@dataclass(frozen=True)
class _Scale:
    """A linear map that gives pooled vectors the mean 0 and the standard deviation _POOLED_SCALE."""

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]

    @classmethod
    def of(cls, pooled: NDArray[np.float64], text_weights: NDArray[np.float64] | None) -> _Scale:
        mean = np.average(pooled, axis=0, weights=text_weights)
        spread = np.sqrt(np.average((pooled - mean) ** 2, axis=0, weights=text_weights))
        return cls(mean, _POOLED_SCALE / np.where(spread > 1e-6, spread, np.inf))

    def apply(self, pooled: NDArray[np.float64]) -> NDArray[np.float64]:
        return (pooled - self.mean) * self.factor


def _look_at(
    model: Model, texts: list[NDArray[np.int32]], workers: Workers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the pooled vectors (texts, pool.width) and the scores (texts, E) of a model.

    Scores are calibrated log-odds of the second class for two classes, and otherwise log-probabilities of the classes
    up to a constant.
    """
    pooled = np.empty((len(texts), model.network.pool.width))
    outputs = np.empty((len(texts), model.network.loss.outputs))
    order = np.argsort([len(ids) for ids in texts], kind="stable")

    def work(rows: NDArray[np.intp]) -> None:
        x, layout, token_features, text_features = network_inputs(model, [texts[row] for row in rows])
        part = model.network.pool.apply(model.network.encode(x, layout, token_features), layout)
        pooled[rows], outputs[rows] = part, model.network.decide(part, layout.pooled, text_features)

    for _ in workers.map(work, (order[at : at + _TOGETHER] for at in range(0, len(order), _TOGETHER))):
        pass
    return pooled, (outputs / model.temperature + _log_priors(model)) @ _to_scores(outputs.shape[1])


def _log_priors(model: Model) -> NDArray[np.float64]:
    """Return the log-priors that a balanced model adds to its outputs; see :meth:`Model.as_probabilities`."""
    if not model.is_balanced:
        return np.zeros(model.network.loss.outputs)
    return np.asarray(model.network.loss.outputs_for(model.priors), np.float64)


def _to_scores(outputs: int) -> NDArray[np.float64]:
    """Return the matrix (outputs, E) from outputs to scores."""
    return np.array([[-1.0], [1.0]]) if outputs == 2 else np.eye(outputs)


def _to_outputs(outputs: int) -> NDArray[np.float64]:
    """Return the matrix (E, outputs) from scores to outputs."""
    return np.array([[-0.5, 0.5]]) if outputs == 2 else np.eye(outputs)


def _match(old: list[str], new: list[str]) -> NDArray[np.float64]:
    """Return the matrix (E0, E) from old to new scores: that of the old label of the same name, or 0."""
    same = np.array([[float(name == other) for other in new] for name in old])
    return _to_outputs(len(old)) @ same @ _to_scores(len(new))


def _note_labels(old: list[str], new: list[str], context: TrainingContext) -> None:
    if set(old) == set(new):
        return
    parts = [("kept", set(old) & set(new)), ("new", set(new) - set(old)), ("gone", set(old) - set(new))]
    told = "; ".join(f"{name}: {', '.join(sorted(labels))}" for name, labels in parts if labels)
    context.on_note(f"labels other than those of the model to start from ({told})")


def _fold(
    before: Model, change: NDArray[np.float64], settings: TrainSettings, words: int, classes: int
) -> NgramFeatures | None:
    """Return the n-gram features of a model, with linear models whose outputs are added to the new scores."""
    known, projection = before.ngram_features, before.network.text_projection
    if known is not None and projection is not None:
        old = projection.weight.value / before.temperature @ _to_scores(before.network.loss.outputs)  # (M E0, E0)
        models = 1 if known.latent is None else 2
        return with_outputs(known, [part @ change for part in np.split(old, models)])
    if not settings.ngrams:
        return None
    width = feature_width(classes)
    none, nothing = np.zeros((0, 0), np.float32), np.zeros((0, width), np.float32)
    return NgramFeatures(settings.ngrams, words, np.zeros(0, np.int64), none, nothing, np.zeros(width, np.float32))


def _set_weights(
    model: Model, before: Model, change: NDArray[np.float64], correction: Correction, scale: _Scale
) -> None:
    """Copy the weights of a model; those of the head include the correction."""
    old = dict(before.network.parameters())
    for name, parameter in model.network.parameters():
        if not name.startswith(("head.", "text_projection.")):
            np.copyto(parameter.value, old[name].value)
    outputs = model.network.loss.outputs
    to_outputs = _to_outputs(outputs)
    through = _to_scores(before.network.loss.outputs) @ change  # (old outputs, E)
    of_pooled = correction.weights[change.shape[0] :] * scale.factor[:, None]
    head, new = before.network.head, model.network.head
    bias = np.zeros(len(through)) if head.bias is None else head.bias.value
    new.weight.value[...] = (head.weight.value / before.temperature @ through + of_pooled) @ to_outputs
    if new.bias is not None:
        moved = (bias / before.temperature + _log_priors(before)) @ through
        new.bias.value[...] = (moved - scale.mean @ of_pooled + correction.bias) @ to_outputs
    if model.network.text_projection is not None:
        weight = model.network.text_projection.weight.value
        weight[...] = np.tile(to_outputs, (len(weight) // len(to_outputs), 1))
