"""The settings of training without a network (``epochs=0``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from nlptx.settings.stages import NetworkSettings, TrainSettings

# The shape of an encoder without a projection and without blocks.
SHAPE: Mapping[str, Any] = {
    "width": 0,
    "blocks": 0,
    "positions": "none",
    "norm": "post",
    "pool": "mean",
    "long_texts": "split",
}
_DEFAULTS = {item.name: item.default for item in fields(TrainSettings)}
# Settings that have no effect without a network, because they describe the network or how it is trained.
UNUSED = [
    *(item.name for item in fields(NetworkSettings) if item.name != "loss"),
    *("lr", "freeze", "distill", "batch", "optimizer", "embedding_lr", "schedule", "warmup", "weight_decay", "clip"),
    *("crop", "word_dropout", "weight_averaging", "patience"),
]


def without_network(settings: TrainSettings) -> TrainSettings:
    """Return the settings with the shape of an empty encoder and the defaults of all unused settings."""
    changes: dict[str, Any] = {name: _DEFAULTS[name] for name in UNUSED}
    return replace(settings, **changes | dict(SHAPE))


def without_effect(settings: TrainSettings, *, started: bool = False) -> list[str]:
    """Return the names of the settings that were changed, but have no effect if no network is trained.

    If training started from a model (``started``), the shape of the network is that of the model, so it is not named.
    """
    kept = [item.name for item in fields(NetworkSettings) if item.name != "dropout"] if started else []
    unused = [name for name in UNUSED if name not in kept]
    return [name for name in unused if getattr(settings, name) not in (_DEFAULTS[name], SHAPE.get(name))]
