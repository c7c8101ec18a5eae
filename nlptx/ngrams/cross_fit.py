"""Fits n-gram features out of fold: the label of a text is never used to compute the features of this text.

The training texts are assigned to folds. The features of a training text come from models that were fitted without its
fold; the features of any other text come from models that were fitted on all training texts. Texts without a label are
used only to find the LSA components. The labels influence only which texts share a fold. Axis letters: see
:mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.ngrams.array_bytes import bytes_to_arrays
from nlptx.ngrams.example_features import ExampleFeatures, FeatureBatch, batch_of
from nlptx.ngrams.extension import with_ngrams
from nlptx.ngrams.feature_settings import (
    FeatureSettings,
    OnProgress,
    groups_of,
    step_counter,
)
from nlptx.ngrams.features import NgramFeatures
from nlptx.ngrams.fold_models import ModelData, fit_part
from nlptx.ngrams.lexicon import LexiconPrior
from nlptx.ngrams.naive_bayes import feature_width
from nlptx.ngrams.occurrences import ngrams_of_texts
from nlptx.ngrams.out_of_core import fit_out_of_core
from nlptx.ngrams.text_rows import text_rows, unit_rows
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.sampling.copies import first_copies
from nlptx.sampling.passages import Passage
from nlptx.sampling.splits import assign_folds, training_parts

# If there are at least this many texts, with and without labels together, :mod:`nlptx.ngrams.out_of_core` computes the
# features.
OUT_OF_CORE_TEXTS = 100_000


def fit_ngram_features(
    texts: Sequence[NDArray[np.integer]],
    targets: NDArray[np.int64] | NDArray[np.bool_],
    settings: FeatureSettings,
    rng: np.random.Generator,
    unlabelled: Sequence[NDArray[np.integer]] = (),
    workers: Workers = SERIAL,
    passages: Sequence[Passage] = (),
    on_progress: OnProgress = lambda step, fraction, detail: None,
    text_weights: NDArray[np.float64] | None = None,
    lexicon: LexiconPrior | None = None,
    budget: MemoryBudget | None = None,
) -> tuple[NgramFeatures, ExampleFeatures]:
    """Count the n-grams of labelled texts, and fit the n-gram features.

    Args:
        texts: word ids (T,) of each training text.
        targets: (texts,) class of each text, or (texts, C), True where a text has a class.
        settings: settings of the features.
        rng: source of randomness for the folds and for the initial vectors of the power iteration.
        unlabelled: word ids of texts without a label.
        workers: pool of threads or processes; its size does not change the result.
        passages: passages of the training texts; features are computed for them too.
        on_progress: callback for progress; see OnProgress.
        text_weights: (texts,) weight of each text. A text with a weight of 2 counts as two texts. None means that all
            weights are 1.
        lexicon: prior of the weights of the ratio model, or None.
        budget: memory limit; None for no limit. The limit does not change the result. The features of the training
            texts can be read until the ``with`` block of the budget ends.

    Returns:
        The fitted n-gram features, which compute the features of texts that are not training texts; and a sequence with
        the features of each training text, followed by those of each passage. The features of a text or passage were
        computed by models that were fitted without its fold. (A passage is in the fold of the text that contains the
        passage.)

    Raises:
        NlptxError: a process was killed, or the power iteration does not converge.
        OutputError: the temporary files cannot be written.
    """
    budget = budget or MemoryBudget.unlimited()
    texts = texts if isinstance(texts, RaggedArray) else RaggedArray.of(texts, np.int32)
    if len(texts) + len(unlabelled) >= OUT_OF_CORE_TEXTS:
        return fit_out_of_core(
            texts,
            targets,
            settings,
            rng,
            unlabelled=unlabelled,
            workers=workers,
            passages=passages,
            on_progress=on_progress,
            text_weights=text_weights,
            lexicon=lexicon,
            budget=budget,
        )
    folds = min(settings.folds, len(texts))
    fold = assign_folds(targets, folds, rng, first_copies(texts, settings.capitals_sign))
    prepared = text_rows(texts, unlabelled, settings, rng, workers, on_progress, text_weights, lexicon, budget)
    known, ngram_importance, scaled, lexicon_feature, rows, components, row_of = prepared
    width = feature_width(settings.classes, independent=targets.ndim == 2)
    parts = training_parts(fold, folds)

    def built(arrays: bytes, held_out: NDArray[np.bool_]) -> _Fitted:
        """Return the models in ``arrays``, fitted without the texts where the mask ``held_out`` (texts,) is True."""
        ratios, ratio_weights, bias, lexicon_slope, lsa_weights, latent_bias, component_outputs = bytes_to_arrays(
            arrays
        )
        features = NgramFeatures(settings.order, settings.words, known, ratios, ratio_weights, bias)
        self_outputs = np.zeros((len(texts), width), np.float32)
        outputs = scaled[held_out] @ ratio_weights
        if lexicon_feature is not None:
            outputs += lexicon_feature[held_out] @ lexicon_slope[None]
        if components is not None:
            bias = np.concatenate([bias, latent_bias]).astype(np.float32)
            features = replace(features, bias=bias, lsa_weights=lsa_weights, importance=ngram_importance)
            self_outputs = np.hstack([self_outputs, component_outputs])
            important = ngram_importance > 0
            outputs = np.hstack(
                [outputs, rows[held_out] @ (lsa_weights[important] / ngram_importance[important, None])]
            )
        if lexicon is not None:
            features = with_ngrams(features, lexicon.keys, lexicon.values[:, None] * lexicon_slope)
        return _Fitted(features, self_outputs, outputs + bias - self_outputs[held_out])

    def overlaps() -> NDArray[np.float32]:
        """Return the dot product of the LSA row of each passage and the LSA row of its text, (passages,).

        The contribution of a text to the outputs for its passage is this product times the contribution to its own
        outputs.
        """
        if components is None or not passages:
            return np.zeros(len(passages), np.float32)
        passage_ngrams = ngrams_of_texts((passage.ids for passage in passages), settings.order, settings.words, workers)
        # If a text has too few n-grams, ``row_of`` is -1, which selects the last row. That is harmless: the
        # product is later multiplied by the contribution of the text to its own outputs, which is 0 for such a text.
        rows_of_texts = components.rows[row_of[[passage.text for passage in passages]]]
        overlaps = unit_rows(passage_ngrams, known, ngram_importance, workers).multiply(rows_of_texts)
        return np.asarray(overlaps.sum(axis=1), np.float32).ravel()

    on_model = step_counter("linear models", folds + 1, on_progress, "models")
    on_model(0)
    # L-BFGS holds the interpreter lock, so processes are faster than threads.
    data = ModelData(
        scaled, targets, settings, parts, lexicon_feature, text_weights, components, row_of, ngram_importance
    )
    fitted = workers.map_shared(fit_part, data, range(len(parts)))
    left_out = chain([np.zeros(len(texts), bool)], (fold == number for number in range(folds)))
    final, *out_of_fold = map(built, counted(fitted, on_model, already=1, every=1), left_out)
    outputs = np.zeros((len(texts), final.outputs.shape[1]), np.float32)
    for number, fold_models in enumerate(out_of_fold):
        outputs[fold == number] = fold_models.outputs

    def features_of(group: NDArray[np.intp]) -> FeatureBatch:
        """Return the features of texts that are all in one fold, computed by models fitted without this fold."""
        features, lengths = out_of_fold[fold[group[0]]].features, texts.lengths[group]
        token_features = np.zeros((0, 0), np.float32)
        if settings.needs_token_features:
            token_features = features.token_features_of(features.find(np.concatenate(list(texts.take(group))), lengths))
        return FeatureBatch(group, lengths, token_features, outputs[group])

    def batches() -> Iterator[FeatureBatch]:
        done = 0
        on_count = step_counter("n-gram features", len(texts), on_progress)
        groups = (groups_of(texts, np.flatnonzero(fold == number)) for number in range(folds))
        for batch in workers.map(features_of, chain.from_iterable(groups)):
            on_count(done)
            done += len(batch.rows)
            yield batch
        for number, (passage, overlap) in enumerate(zip(passages, overlaps(), strict=True), len(texts)):
            fold_models = out_of_fold[fold[passage.text]]
            self_outputs = overlap * fold_models.self_outputs[passage.text]
            yield batch_of(
                fold_models.features,
                np.array([number]),
                [passage.ids],
                self_outputs,
                needs_token_features=settings.needs_token_features,
            )

    return final.features, ExampleFeatures.collected(batches(), len(texts) + len(passages), budget)


class _Fitted(NamedTuple):
    """Models that were fitted on part of the training texts, and their outputs for the other texts.

    Args:
        features: the n-gram features.
        self_outputs: (texts, M E) contribution of each training text to its own outputs: the LSA components are
            computed from all texts, including this one.
        outputs: (others, M E) outputs of the linear models, minus ``self_outputs``, for the training texts on which the
            models were not fitted. The outputs are computed from rows of the matrix of all training texts, so no
            n-grams need to be looked up again.
    """

    features: NgramFeatures
    self_outputs: NDArray[np.float32]
    outputs: NDArray[np.float32]
