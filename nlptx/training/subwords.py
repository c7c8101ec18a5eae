"""Fits a subword model (:mod:`nlptx.ngrams.subword_model`) after the network, and adds its scores to the outputs.

The outputs of the model are a x + c y, where x are the outputs without the subword model, and y are the scores of the
subword model, converted to outputs. :mod:`nlptx.training.fusion` fits the weights a and c. The n-gram features contain
a linear model on the same n-grams, so c times the numbers of the subword model are added to the weights of that model:
predictions need no further step, and the model file needs no new arrays.

The subword model is trained separately from the network. If its scores were inputs of the network, they would improve
the model much less. Most words of a large corpus are frequent enough for weights of their own, so with many words, the
subword model improves nothing, and is left out. It is also left out if no texts are held out, because the best weights
differ: the more the network knows from other texts, through its word vectors, the lower c is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.classifier.model_file import round_like_file
from nlptx.ngrams import NgramFeatures
from nlptx.ngrams.extension import with_ngrams
from nlptx.ngrams.ngram_rows import ngram_rows
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.ngrams.subword_model import SubwordModel, fit_subword_model
from nlptx.sampling.copies import first_copies
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.sampling.splits import FOLDS, assign_folds
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset
from nlptx.training.fusion import fuse
from nlptx.training.loss import loss_weights, outputs_of
from nlptx.training.ngram_features import FEW_WORDS, MIN_TEXTS
from nlptx.training.scores import pass_on_scores, to_outputs, to_scores, with_scores

# Prior means of the weights a and c, and their standard deviation.
_PRIOR, _DEVIATION = np.array([0.5, 0.5]), 0.3


def add_subwords(model: Model, data: Dataset, context: TrainingContext) -> None:
    """Fit a subword model and add it to a trained model, unless the settings or the size of the data exclude it.

    If training was stopped, no subword model is added.
    """
    features, setting = model.ngram_features, model.settings.subwords
    if features is None or setting == "off" or context.interrupted:
        return
    if isinstance(features, SparseNgramFeatures):
        if setting == "on":
            context.on_note(f"no subword model: {len(model.labels):,} labels are too many")
        return
    train, valid, loss = data.train.texts(), data.valid, model.network.loss
    few = train.ids.lengths.sum(dtype=np.int64) <= FEW_WORDS
    if setting == "auto" and not (few and len(valid)):
        return
    context.report("subword model", 0)
    ngrams = ngram_rows(
        [*train.ids, *valid.ids],
        len(train),
        model.settings.ngrams,
        model.vocabulary.words,
        model.settings.ngram_min_texts or (1 if few else MIN_TEXTS),
        train.weights,
    )
    fold = assign_folds(
        train.targets, min(FOLDS, len(train)), generator(context.seed, Stream.FOLDS), first_copies(train.ids)
    )
    width = to_scores(loss).shape[1]
    subwords = fit_subword_model(ngrams, train.targets, width, fold, context.workers, loss_weights(model, train))
    members = {}
    if len(valid):
        of_subwords = subwords.scores(ngrams.rows[len(train) :]) @ to_outputs(loss)
        members = {"loss_without": outputs_of(model, valid, context.workers), "subword_loss": of_subwords}
    (of_others, of_subword_model), record = fuse(model, members, valid, _PRIOR, _DEVIATION)
    _merge(model, features, ngrams.keys, subwords, of_others, of_subword_model)
    round_like_file(model)  # the weights of the n-grams have changed
    model.history["subwords"] = {
        "weight": of_subword_model,
        "weight_of_others": of_others,
        "prior_variance": subwords.variance,
        **record,
    }
    context.report("subword model", 1)


def _merge(
    model: Model, features: NgramFeatures, keys: NDArray[np.int64], subwords: SubwordModel, a: float, c: float
) -> None:
    """Multiply the outputs of a model by a, and add c times the scores of a subword model."""
    network = model.network
    assert network.text_projection is not None
    of_network = a
    if model.regions is not None:
        # The region classifier multiplies the outputs of the network, with the subword scores in them, by its weight.
        weight, of_regions = (round(a * before, 4) for before in model.regions.weights)
        model.regions = replace(model.regions, weights=(weight, of_regions))
        of_network, c = 1.0, c / weight
    scores = to_scores(network.loss)
    converted = with_scores(features, network.text_projection, of_network * scores)
    extended = with_ngrams(converted, keys, (c * subwords.ngrams).astype(np.float32))
    extended.bias[: scores.shape[1]] += (c * subwords.bias).astype(np.float32)
    model.ngram_features = extended
    pass_on_scores(network)
    for parameter in network.head.direct_parameters():
        parameter.value[...] *= of_network
