"""Starting from a trained model (``--start``) instead of word vectors.

The new model begins with the words, word vectors, encoder, n-gram features and region filters of the old one. A
correction to the outputs of the old model is fitted on the new texts (:mod:`nlptx.ngrams.correction`) and added to the
head and to the n-gram weights. After the correction, the network is trained as usual; the region filters are not
trained. If no correction helps, because the new texts are too few or too similar to the training texts of the old
model, the network is not trained, and no words are added. With ``--epochs 0``, only the correction is learned. The
labels of the old model keep their output weights; the output weights of new labels start at 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.decision import MultiLabelDecision
from nlptx.classifier.inference import network_inputs
from nlptx.classifier.label_types import Label
from nlptx.classifier.model import Model
from nlptx.classifier.region_fusion import combined
from nlptx.classifier.scores import to_scores
from nlptx.errors import SettingsError
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams import MAX_VOCABULARY, NgramFeatures
from nlptx.ngrams.correction import cross_fit_correction
from nlptx.ngrams.example_features import ExampleFeatures, FeatureBatch
from nlptx.ngrams.extension import with_ngrams, with_words
from nlptx.ngrams.feature_settings import groups_of
from nlptx.ngrams.ngram_rows import ngram_rows
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.runtime.workers import Workers
from nlptx.sampling.copies import first_copies
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import TrainSettings
from nlptx.training.apply_correction import (
    OUTPUT_SCALE,
    PooledScale,
    convert_ngrams,
    convert_regions,
    initial_bias,
    score_conversion,
    set_weights,
)
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset, with_known_words
from nlptx.training.encoding import EncodedTexts
from nlptx.training.initialization import initial_model
from nlptx.training.regions import region_outputs
from nlptx.training.start_settings import with_slower_network

# In training that starts from a model, the default of ``--ngram-min-texts`` is 1 for up to _FEW_TEXTS texts, because
# the prior keeps the weights of rare n-grams small. For more texts the default is 2, because most n-grams of a large
# corpus occur in only one text. The option does not apply to single words, which are always used.
_FEW_TEXTS = 10_000
# Maximum number of labels of the new texts in multi-label classification, and maximum number of labels of the old model
# if its n-gram features are sparse.
_MAX_LABELS = 100
# Number of texts per pass through the network.
_BATCH = 8


def start_from(
    start: Model,
    data: Dataset,
    encoded: EncodedTexts,
    labels: list[Label],
    settings: TrainSettings,
    context: TrainingContext,
    multi_label: MultiLabelDecision | None = None,
) -> tuple[Model, Dataset]:
    """Return a new model, which is a trained model with corrected weights, and the data to train the new model on.

    If the correction improves the out-of-fold predictions, the settings of the new model have a lower learning rate
    (:func:`.with_slower_network`). If the correction does not improve the out-of-fold predictions, the weights are not
    corrected, and the new settings have 0 epochs, so the network is not trained. The training texts get n-gram features
    only if the network is trained.

    Args:
        start: trained model to start from.
        data: training and validation texts.
        encoded: vocabulary, vectors and labels of the texts. The words of ``start`` come first, then new words.
        labels: label of each class of the new model.
        settings: settings from :func:`.settings_from`.
        context: seed, workers and callbacks.
        multi_label: for multi-label data, the rule that chooses the labels of a text; None for single-label data.

    Raises:
        SettingsError: there are too many words or labels for n-grams, or the loss of the model is for two labels, and
            the data has more.
    """
    _check_number_of_labels(start, labels, multi_label, settings.loss)
    words = len(encoded.vocabulary)
    if settings.ngrams and words > MAX_VOCABULARY:
        raise SettingsError(
            f"{words:,} words are too many for n-grams; at most {MAX_VOCABULARY:,} are supported",
            hint="Set a higher `new_word_min_count`.",
        )
    features = start.ngram_features
    features = features.dense() if isinstance(features, SparseNgramFeatures) else features
    known = None if features is None else with_words(features, words)
    table = np.concatenate([start.table, encoded.vectors[len(start.table) :]])  # new words have the zero vector
    regions = None if start.regions is None else start.regions.with_words(words)
    before = replace(start, vocabulary=encoded.vocabulary, table=table, ngram_features=known, regions=regions)
    texts = data.train.texts()
    pooled, scores = _pooled_and_scores(before, texts.ids, context.workers)
    matched = score_conversion(before, encoded.labels, multi_label=multi_label is not None)
    first_bias = initial_bias(before, encoded.labels, encoded.priors, multi_label=multi_label is not None)
    _note_labels(start.label_names, encoded.labels, context)
    min_texts = settings.ngram_min_texts or (1 if len(texts) <= _FEW_TEXTS else 2)
    ngrams = ngram_rows(
        data.train.ids,
        len(texts),
        settings.ngrams,
        encoded.vocabulary.words,
        min_texts,
        texts.weights,
        context.workers,
    )
    scale = PooledScale.of(pooled, texts.weights)
    correction, contributions = cross_fit_correction(
        ngrams,
        scores @ matched + first_bias,
        np.hstack([scores * OUTPUT_SCALE, scale.apply(pooled)]),
        texts.targets,
        np.array([*range(len(texts)), *(passage.text for passage in data.passages)], np.intp),
        generator(context.seed, Stream.FOLDS),
        context.workers,
        context.report,
        texts.weights,
        first_copies(texts.ids, encoded.vocabulary.capitals_sign),
    )
    if correction.is_zero:
        context.on_note(
            "in cross-validation, the new texts do not improve the predictions of the model to start from, so its"
            " weights are kept, and no words are added; more labelled texts may help"
        )
        # No words are added: new words would have no weights, but would change the n-grams of the words around them.
        settings, before = replace(settings, epochs=0), replace(start, ngram_features=features)
        if encoded.valid_before is not None:
            data = replace(data, valid=with_known_words(encoded.valid_before))
    else:
        settings = with_slower_network(settings, texts.total_weight)
    change = matched + OUTPUT_SCALE * correction.weights[: len(matched)]  # (E0, E), converts old scores to new scores
    converted = ngram_features = convert_ngrams(before, change, settings, len(before.vocabulary))
    if converted is not None and not correction.is_zero:
        ngram_features = with_ngrams(converted, ngrams.keys, correction.ngrams)
    model = initial_model(
        before.vocabulary,
        before.table,
        labels,
        encoded.values,
        encoded.priors,
        settings,
        context.seed,
        ngram_features,
        multi_label,
    )
    set_weights(model, before, change, replace(correction, bias=correction.bias + first_bias), scale)
    if converted is None:
        return model, data
    model.regions = convert_regions(before, change, model.network.loss)
    if not settings.epochs:
        return model, data
    if model.regions is not None:
        # The region filters are not trained further, so their scores are computed once and added to the features.
        outputs = region_outputs(model.regions.classifier, data.train.ids, context.workers)
        contributions = contributions + (outputs @ to_scores(model.network.loss)).astype(np.float32)
    batches = _batches(converted, data.train.ids, contributions, context.workers)
    example_features = ExampleFeatures.collected(batches, len(data.train), context.budget)
    return model, replace(data, train=replace(data.train, ngram_features=example_features))


def _batches(
    features: NgramFeatures, texts: RaggedArray, contributions: NDArray[np.float32], workers: Workers
) -> Iterator[FeatureBatch]:
    """Yield the n-gram features of groups of texts.

    The first E text features are the outputs of the ratio model. To these, the scores ``contributions`` (texts, E) of
    the correction and the region filters are added.
    """

    def batch(rows: NDArray[np.intp]) -> FeatureBatch:
        token_features, text_features = features.arrays_of(list(texts.take(rows)))
        text_features[:, : contributions.shape[1]] += contributions[rows]
        return FeatureBatch(rows, texts.lengths[rows], token_features, text_features)

    return workers.map(batch, groups_of(texts, np.arange(len(texts))))


def _pooled_and_scores(
    model: Model, texts: RaggedArray, workers: Workers
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the pooled vectors (texts, pool.width) and the scores (texts, E) of a model.

    The scores are calibrated; :mod:`nlptx.classifier.scores` defines them.
    """
    pooled = np.empty((len(texts), model.network.pool.width))
    outputs = np.empty((len(texts), model.network.loss.outputs))
    order = np.argsort(texts.lengths, kind="stable")

    def work(rows: NDArray[np.intp]) -> None:
        batch = [texts[row] for row in rows]
        x, layout, token_features, text_features = network_inputs(model, batch)
        part = model.network.pool.apply(model.network.encode(x, layout, token_features), layout)
        pooled[rows] = part
        outputs[rows] = combined(model.regions, model.network.apply_head(part, layout.pooled, text_features), batch)

    for _ in workers.map(work, (order[at : at + _BATCH] for at in range(0, len(order), _BATCH))):
        pass
    return pooled, outputs / model.temperature @ to_scores(model.network.loss)


def _check_number_of_labels(
    start: Model, labels: list[Label], multi_label: MultiLabelDecision | None, loss: str
) -> None:
    """Raise SettingsError if the model cannot be changed to this number of labels.

    The change is impossible in three cases: if the loss of the model requires exactly two labels, and there are more;
    if multi-label texts have more than _MAX_LABELS labels, because the correction has one weight per n-gram and label;
    and if the n-gram features of the old model are sparse, and it has more than _MAX_LABELS labels.
    """
    if loss == "squared-error" and len(labels) != 2:
        raise SettingsError(
            f"the loss of the model to start from, {loss}, is for 2 labels; the data has {len(labels):,}",
            hint="To start from only the word vectors of the model, set `embeddings` instead of `start`.",
        )
    is_sparse = isinstance(start.ngram_features, SparseNgramFeatures)
    count = max(len(labels) if multi_label is not None else 0, len(start.labels) if is_sparse else 0)
    if count > _MAX_LABELS:
        raise SettingsError(
            f"there are {count:,} labels; starting from a model is possible for at most {_MAX_LABELS}",
            hint="To start from only the word vectors of the model, set `embeddings` instead of `start`.",
        )


def _note_labels(old: list[str], new: list[str], context: TrainingContext) -> None:
    if set(old) == set(new):
        return
    parts = [("kept", set(old) & set(new)), ("new", set(new) - set(old)), ("dropped", set(old) - set(new))]
    changes = "; ".join(f"{name}: {', '.join(sorted(labels))}" for name, labels in parts if labels)
    context.on_note(f"the labels differ from those of the model to start from ({changes})")
