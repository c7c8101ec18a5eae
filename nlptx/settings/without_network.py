"""The settings of training without a network (``epochs=0``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from nlptx.settings.training import NetworkSettings, TrainSettings

# Settings of an encoder without a projection and without blocks.
EMPTY_ENCODER: Mapping[str, Any] = {
    "width": 0,
    "blocks": 0,
    "positions": "none",
    "norm": "post",
    "pool": "mean",
    "long_texts": "split",
}
DEFAULTS = {item.name: item.default for item in fields(TrainSettings)}
# Settings that have no effect without a network, because they describe the network or how it is trained.
UNUSED = [
    *(item.name for item in fields(NetworkSettings) if item.name != "loss"),
    *("lr", "freeze", "distill", "batch", "optimizer", "embedding_lr", "schedule", "warmup", "weight_decay", "clip"),
    *("crop", "word_dropout", "weight_averaging", "patience"),
]


def without_network(settings: TrainSettings) -> TrainSettings:
    """Return the settings with those of an empty encoder (``EMPTY_ENCODER``).

    All other settings that have no effect without a network are reset to their defaults.
    """
    changes: dict[str, Any] = {name: DEFAULTS[name] for name in UNUSED}
    return replace(settings, **changes | dict(EMPTY_ENCODER))
