"""Chooses the values of automatic settings: region filters, distillation, the length of random crops, and epochs.

Region filters (:mod:`nlptx.regions`) and distillation (:mod:`nlptx.training.distillation`) can both use texts without
labels. With enough labelled texts, region filters improve the model more than distillation does. With fewer labelled
texts, distillation improves the model more than region filters do, and takes less time. Region filters and distillation
together improve the model no more than the better of the two. With region filters and enough labelled texts, training
the network on shorter crops of the texts does not make the model worse.

Word vectors of a large corpus describe words that are rare or missing in the labelled texts, but the network takes
hundreds of steps to learn how to use the vectors. With word vectors of a large corpus and few labelled texts, the
number of epochs is therefore higher than the default.
"""

from __future__ import annotations

import math
from dataclasses import replace

from nlptx.settings import AUTOMATIC, TrainSettings
from nlptx.text.vocabulary import Vocabulary
from nlptx.training.labelled_texts import LabelledTexts

# Region filters are chosen automatically only if there are at least _MIN_TEXTS labelled texts and at most _MAX_LABELS
# labels.
_MIN_TEXTS, _MAX_LABELS = 2000, 20
# Automatic number of region filters, and automatic number of distillation epochs, if they are not 0.
_FILTERS, _DISTILLATION_EPOCHS = 64, 1
# Automatic number of epochs: EPOCHS or, with word vectors of a large corpus, as many as are needed for _STEPS steps,
# but at least EPOCHS and at most _MAX_EPOCHS.
EPOCHS, _MAX_EPOCHS, _STEPS = 3, 8, 1000
# Texts are considered few if they have at most this number of words in total.
FEW_WORDS = 250_000
# Number of words in a crop: _SHORT_CROP with region filters and enough labelled texts, otherwise _CROP.
_SHORT_CROP, _CROP = 32, 64


def is_from_large_corpus(vocabulary: Vocabulary) -> bool:
    """Return whether word vectors with this vocabulary come from many texts.

    Word vectors without counts are assumed to come from many texts, because another program made them.
    """
    total = int(vocabulary.counts.sum())
    return total > FEW_WORDS or (total == 0 and len(vocabulary) > 0)


def epochs_for_large_corpus(texts: int, batch: int) -> int:
    """Return the automatic number of epochs for word vectors of a large corpus.

    Args:
        texts: number of labelled texts.
        batch: number of texts per step.
    """
    return min(max(math.ceil(_STEPS * batch / max(texts, 1)), EPOCHS), _MAX_EPOCHS)


def choose_automatic(
    settings: TrainSettings, given: LabelledTexts, vocabulary: Vocabulary, *, from_model: bool
) -> TrainSettings:
    """Return the settings, with all automatic values except ``new_word_min_count`` replaced by actual ones.

    Region filters are chosen automatically only if the model has a network and n-gram features: a user who disables one
    of these two presumably wants only the other. Another condition is that there are held-out texts, on which two
    weights are fitted: one for the outputs of the network, and one for the outputs of the region filters.

    Args:
        settings: training settings.
        given: the labelled texts.
        vocabulary: vocabulary of the word vectors.
        from_model: whether training starts from a model, in which case no new region filters are trained.
    """
    held_out = settings.valid_share > 0 or given.valid is not None
    enough = len(given.texts) >= _MIN_TEXTS and len(given.labels) <= _MAX_LABELS and held_out
    filters = settings.region_filters
    if filters == AUTOMATIC:
        filters = _FILTERS if enough and settings.ngrams and settings.epochs and not from_model else 0
    distill, crop = (0, _SHORT_CROP) if enough and filters else (_DISTILLATION_EPOCHS, _CROP)
    has_large_corpus = is_from_large_corpus(vocabulary) and not from_model
    epochs = epochs_for_large_corpus(len(given.texts), settings.batch) if has_large_corpus else EPOCHS
    return replace(
        settings,
        region_filters=filters,
        epochs=epochs if settings.epochs == AUTOMATIC else settings.epochs,
        distill=distill if settings.distill == AUTOMATIC else settings.distill,
        crop=crop if settings.crop == AUTOMATIC else settings.crop,
    )
