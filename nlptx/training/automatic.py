"""Chooses between distillation and region filters, unless the settings do.

Both also learn from texts without labels. If there are enough labelled texts, region filters (:mod:`nlptx.regions`)
improve the model more; with fewer, distillation (:mod:`nlptx.training.distillation`) improves it more and takes less
time. Both together improve the model no more than one of them alone.
"""

from __future__ import annotations

from dataclasses import replace

from nlptx.settings import AUTOMATIC, TrainSettings

# Minimum number of labelled texts for region filters, and maximum number of labels.
_MIN_TEXTS, _MAX_LABELS = 2000, 20
# Number of region filters, and number of distillation epochs, that are chosen automatically.
_FILTERS, _EPOCHS = 64, 1


def choose_automatic(settings: TrainSettings, texts: int, labels: int, *, started: bool) -> TrainSettings:
    """Return the settings, with automatic numbers of region filters and distillation epochs replaced by actual ones.

    Without n-gram features or without a network, there are no region filters unless the settings ask for them, because
    the user then wants the network alone, or the linear models alone.

    Args:
        settings: training settings.
        texts: number of labelled texts.
        labels: number of different labels.
        started: whether training starts from a model. No new region filters are then trained.
    """
    enough = texts >= _MIN_TEXTS and labels <= _MAX_LABELS
    filters, epochs = settings.region_filters, settings.distill
    if filters == AUTOMATIC:
        filters = _FILTERS if enough and settings.ngrams and settings.epochs and not started else 0
    if epochs == AUTOMATIC:
        epochs = 0 if enough and filters else _EPOCHS
    return replace(settings, region_filters=filters, distill=epochs)
