"""Fits a subword model (:mod:`nlptx.ngrams.subword_model`) after the network, and adds its scores to the outputs.

The outputs of the model are a x + c y, where x are the outputs without the subword model, and y are the scores of the
subword model, converted to outputs. :mod:`nlptx.training.fusion` fits the weights a and c. The n-gram features contain
a linear model on the same n-grams as the subword model. The n-gram weights of the subword model, times c, are added to
those of the linear model, so predictions need no further step, and the model file needs no new arrays.

The subword model is trained separately from the network. If the scores of the subword model were inputs of the network,
they would improve the model much less.

By default, the subword model is left out in two cases in which it could be fitted. If the training texts have many
words in total, most of the words are frequent enough to have weights of their own, so the subword model would not
improve predictions. If no texts are held out, a and c cannot be fitted, and no fixed values suit all data: the more the
network has learned from other texts through its word vectors, the lower the best c is. The subword model cannot be
fitted without n-gram features, with more than 20 labels, or with 100,000 texts or more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.classifier.model_file import round_like_file
from nlptx.classifier.scores import to_outputs, to_scores
from nlptx.ngrams import NgramFeatures
from nlptx.ngrams.cross_fit import OUT_OF_CORE_TEXTS
from nlptx.ngrams.extension import with_ngrams
from nlptx.ngrams.ngram_rows import ngram_rows
from nlptx.ngrams.sparse_features import SparseNgramFeatures
from nlptx.ngrams.subword_model import SubwordModel, fit_subword_model
from nlptx.sampling.copies import first_copies
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.sampling.splits import FOLDS, assign_folds
from nlptx.training.automatic import FEW_WORDS
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset, Examples
from nlptx.training.fusion import fuse
from nlptx.training.loss import outputs_of
from nlptx.training.ngram_features import MAX_LABELS, automatic_min_texts
from nlptx.training.scores import pass_on_scores, with_scores

# Prior means of the weights a and c, and their standard deviation. _PRIOR_WITH_REGIONS applies to models with region
# filters if no texts are held out; in this case, the weights equal their prior means.
_PRIOR, _PRIOR_WITH_REGIONS, _DEVIATION = np.array([0.5, 0.5]), np.array([0.7, 0.25]), 0.3


def add_subwords(model: Model, data: Dataset, context: TrainingContext) -> None:
    """Fit a subword model and add it to a trained model, unless the settings or the size of the data exclude it.

    If training was stopped, no subword model is added.
    """
    if not _is_wanted(model, data, context):
        return
    features, train, valid, loss = model.ngram_features, data.train.texts(), data.valid, model.network.loss
    assert isinstance(features, NgramFeatures)
    ngrams = ngram_rows(
        [*train.ids, *valid.ids],
        len(train),
        model.settings.ngrams,
        model.vocabulary.words,
        model.settings.ngram_min_texts or automatic_min_texts(_num_words(train), model.settings, len(model.labels)),
        train.weights,
        context.workers,
    )
    fold = assign_folds(
        train.targets,
        min(FOLDS, len(train)),
        generator(context.seed, Stream.FOLDS),
        first_copies(train.ids, model.vocabulary.capitals_sign),
    )
    width = to_scores(loss).shape[1]
    subwords = fit_subword_model(
        ngrams,
        train.targets,
        width,
        fold,
        context.workers,
        train.weights,
        lambda fraction: context.report("subword model", fraction),
    )
    outputs_by_loss = {}
    if len(valid):
        of_subwords = subwords.scores(ngrams.rows[len(train) :]) @ to_outputs(loss)
        outputs_by_loss = {"loss_without": outputs_of(model, valid, context.workers), "subword_loss": of_subwords}
    (of_others, of_subword_model), record = fuse(model, outputs_by_loss, valid, _prior(model, data), _DEVIATION)
    _merge(model, features, ngrams.keys, subwords, of_others, of_subword_model)
    round_like_file(model)  # the weights of the n-grams have changed
    # With region filters, model.regions.weights already include the factor `of_others`.
    weights = {"weight": of_subword_model} | ({} if model.regions else {"weight_of_others": of_others})
    model.history["subwords"] = {**weights, "prior_variance": subwords.variance, **record}
    context.report("subword model", 1)


def _is_wanted(model: Model, data: Dataset, context: TrainingContext) -> bool:
    """Return whether to fit a subword model. If the user asked for one that cannot be fitted, a note says why."""
    setting = model.settings.subwords
    if setting == "off" or model.ngram_features is None or context.interrupted:
        return False
    texts, obstacle = data.train.texts(), _obstacle(model, data)
    if setting == "auto" and (obstacle or not len(data.valid) or _num_words(texts) > FEW_WORDS):
        return False
    if obstacle:
        context.on_note(f"no subword model: {obstacle}")
        return False
    if context.stop_requested():
        context.on_note("no subword model, because training was stopped before the subword model was fitted")
        model.history["interrupted"] = True
        return False
    if not len(data.valid):
        weight = _prior(model, data)[1]
        context.on_note(
            f"the weight of the subword model is {weight}, because it cannot be fitted without held-out texts"
        )
    return True


def _prior(model: Model, data: Dataset) -> NDArray[np.float64]:
    """Return the prior means of the weights a and c for this model and these texts."""
    return _PRIOR_WITH_REGIONS if model.regions is not None and not len(data.valid) else _PRIOR


def _obstacle(model: Model, data: Dataset) -> str:
    """Return the reason why no subword model can be fitted, or an empty string."""
    texts = len(data.train.texts())
    if isinstance(model.ngram_features, SparseNgramFeatures):
        return f"{len(model.labels):,} labels are too many; at most {MAX_LABELS} are supported"
    if texts >= OUT_OF_CORE_TEXTS:
        return f"{texts:,} texts are too many to be kept in memory; fewer than {OUT_OF_CORE_TEXTS:,} are supported"
    return ""


def _num_words(texts: Examples) -> int:
    return int(texts.ids.lengths.sum(dtype=np.int64))


def _merge(
    model: Model, features: NgramFeatures, keys: NDArray[np.int64], subwords: SubwordModel, a: float, c: float
) -> None:
    """Multiply the outputs of a model by a, and add c times the scores of a subword model."""
    network = model.network
    assert network.text_projection is not None
    of_network = a
    if model.regions is not None:
        # The subword scores become part of the outputs of the network. RegionFusion multiplies these outputs by
        # `weight`, so c is divided by `weight`.
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
