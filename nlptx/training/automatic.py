"""Resolves the automatic settings: chooses region filters or distillation, and the length of random crops.

Region filters (:mod:`nlptx.regions`) and distillation (:mod:`nlptx.training.distillation`) can both use texts without
labels. With enough labelled texts, region filters improve the model more than distillation does. With fewer labelled
texts, distillation improves the model more than region filters do, and takes less time. Region filters and distillation
together improve the model no more than the better of the two. With region filters and enough labelled texts, the
network can be trained on shorter crops of the texts without making the model worse.
"""

from __future__ import annotations

from dataclasses import replace

from nlptx.settings import AUTOMATIC, TrainSettings
from nlptx.training.labelled_texts import LabelledTexts

# Region filters are chosen automatically only if there are at least _MIN_TEXTS labelled texts and at most _MAX_LABELS
# labels.
_MIN_TEXTS, _MAX_LABELS = 2000, 20
# Number of region filters, and number of distillation epochs, that are chosen automatically.
_FILTERS, _EPOCHS = 64, 1
# Number of words in a crop: _SHORT_CROP with region filters and enough labelled texts, otherwise _CROP.
_SHORT_CROP, _CROP = 32, 64


def choose_automatic(settings: TrainSettings, data: LabelledTexts, *, started: bool) -> TrainSettings:
    """Return the settings, with all automatic values replaced by actual ones.

    Region filters are chosen automatically only if the model has a network and n-gram features. (A user who disables
    one of these two parts wants the other part alone.) This choice also requires held-out texts, on which two
    weights are fitted: one for the outputs of the network, and one for the outputs of the region filters.

    Args:
        settings: training settings.
        data: the labelled texts.
        started: whether training starts from a model. In that case, no new region filters are trained.
    """
    held_out = settings.valid_share > 0 or data.valid is not None
    enough = len(data.texts) >= _MIN_TEXTS and len(data.labels) <= _MAX_LABELS and held_out
    filters = settings.region_filters
    if filters == AUTOMATIC:
        filters = _FILTERS if enough and settings.ngrams and settings.epochs and not started else 0
    epochs, crop = (0, _SHORT_CROP) if enough and filters else (_EPOCHS, _CROP)
    return replace(
        settings,
        region_filters=filters,
        distill=epochs if settings.distill == AUTOMATIC else settings.distill,
        crop=crop if settings.crop == AUTOMATIC else settings.crop,
    )
