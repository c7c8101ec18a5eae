"""Third step of training: the n-gram features of every text, fitted out of fold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nlptx.ngrams import LARGEST_VOCABULARY, NgramFeatures
from nlptx.ngrams.cross_fit import FeatureSettings, fit_ngram_features
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import TrainSettings
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset, Examples
from nlptx.training.encoding import EncodedTexts

# Largest number of labels with n-gram features: each label adds a column to them.
_MAX_LABELS = 20


def add_ngram_features(
    data: Dataset, encoded: EncodedTexts, settings: TrainSettings, context: TrainingContext
) -> tuple[Dataset, NgramFeatures | None]:
    """Add n-gram features to the training examples; return also what computes them for texts from elsewhere.

    Without ``--ngrams``, or if the data does not allow it, the examples stay without, and a note says why.
    """
    if not settings.ngrams:
        return data, None
    texts = data.train.texts()
    obstacle = _obstacle(texts, len(encoded.labels), len(encoded.vocabulary))
    if obstacle:
        context.on_note(f"no n-gram features: {obstacle}")
        return data, None
    shape = FeatureSettings(
        classes=len(encoded.labels),
        order=settings.ngrams,
        words=len(encoded.vocabulary),
        min_texts=settings.ngram_min_texts,
        components=settings.lsa_components,
    )
    ngram_features, of_examples = fit_ngram_features(
        texts.ids,
        texts.targets,
        shape,
        generator(context.seed, Stream.FOLDS),
        encoded.unlabelled,
        context.workers,
        data.passages,
        context.report,
    )
    return replace(data, train=replace(data.train, ngram_features=of_examples)), ngram_features


def _obstacle(texts: Examples, labels: int, words: int) -> str:
    """Return why there can be no n-gram features, or an empty string."""
    if labels > _MAX_LABELS:
        return f"there are {labels:,} labels, and at most {_MAX_LABELS} are possible"
    if words > LARGEST_VOCABULARY:
        return f"there are {words:,} words, and at most {LARGEST_VOCABULARY:,} are possible"
    # The features of a text come from the others, so the only text of its label would learn that it is something else.
    if np.sum(np.bincount(texts.targets) >= 2) < 2:
        return "they need two labels with two texts each"
    return ""
