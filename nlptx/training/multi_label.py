"""Adapts the training settings to the number of labels per text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nlptx.classifier.decision import MultiLabelDecision
from nlptx.classifier.model import Model
from nlptx.errors import SettingsError
from nlptx.nn import LOSSES
from nlptx.settings import NetworkSettings, TrainSettings

_LOSS = "binary-cross-entropy"
# Threshold of every label before training, and also after training if no texts are held out.
_THRESHOLD = 0.5


def resolve_loss(settings: TrainSettings, separator: str | None, start: Model | None) -> TrainSettings:
    """Return the settings, with ``loss=auto`` replaced by a loss that suits the number of labels per text.

    Args:
        settings: training settings given by the caller.
        separator: string between two labels of a text; None if every text has exactly one label.
        start: model to start from, or None.

    Raises:
        SettingsError: the settings or the model do not suit the number of labels per text.
    """
    if separator is None:
        if start is not None and start.multi_label is not None:
            raise SettingsError(
                "the model to start from is a multi-label model, but each text has one label",
                hint="Set `label_separator`, or use only the word vectors of the model, with `embeddings` instead of"
                " `start`.",
            )
        if settings.loss == "auto":
            return replace(settings, loss=NetworkSettings.loss if start is None else start.settings.loss)
        if LOSSES[settings.loss].independent:
            raise SettingsError(
                f"`loss={settings.loss}` is for texts with several labels, but each text has one label",
                hint="Set `label_separator` to the character between the labels of a text.",
            )
        return settings
    if settings.class_weight != "none":
        raise SettingsError(
            f"`class_weight={settings.class_weight}` requires one label per text",
            hint="With several labels per text, each label gets a separate threshold instead.",
        )
    if settings.loss not in ("auto", _LOSS):
        raise SettingsError(
            f"`loss={settings.loss}` requires one label per text; with several labels per text, the loss is {_LOSS}"
        )
    return replace(settings, loss=_LOSS)


def initial_decision(separator: str | None, labels: int) -> MultiLabelDecision | None:
    """Return the decision rule of an untrained multi-label model, or None for a single-label model."""
    return None if separator is None else MultiLabelDecision(separator, np.full(labels, _THRESHOLD))
