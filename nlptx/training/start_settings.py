"""Settings for training that starts from a model: some are taken from the model, and the learning rate is lowered."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from nlptx.classifier.model import Model
from nlptx.errors import SettingsError
from nlptx.nn import LOSSES
from nlptx.settings import NetworkSettings, TrainSettings

# With this number of texts, the network is trained with half of the given learning rate.
_TEXTS_FOR_HALF_RATE = 1000


def settings_of_model(start: Model) -> dict[str, Any]:
    """Return the settings (name -> value) that are taken from a model if training starts from it."""
    kept = {item.name: getattr(start.settings, item.name) for item in fields(NetworkSettings) if item.name != "dropout"}
    if start.ngram_features is not None:
        kept |= {"ngrams": start.ngram_features.order, "lsa_components": start.settings.lsa_components}
    return kept


def settings_from(start: Model, given: TrainSettings) -> TrainSettings:
    """Return ``given`` with the network shape and the n-gram settings of a model.

    Raises:
        SettingsError: for a setting that is taken from the model, the given value is neither the default nor the value
            in the model; or ``pretrain`` is set.
    """
    kept = settings_of_model(start)
    if LOSSES[given.loss].independent:
        del kept["loss"]
    for item in fields(given):
        value = getattr(given, item.name)
        if item.name in kept and value not in (item.default, kept[item.name]):
            raise SettingsError(
                f"`{item.name}` is {value!r}; the model to start from has {kept[item.name]!r}",
                hint=f"Leave `{item.name}` out, or train from word vectors.",
            )
    if given.pretrain:
        raise SettingsError("`pretrain` trains a new network, but training starts from a model")
    return replace(given, **kept)


def with_slower_network(settings: TrainSettings, texts: float) -> TrainSettings:
    """Return settings with lr multiplied by n / (n + 1000) for n texts: with fewer texts, the network changes less."""
    return replace(settings, lr=settings.lr * texts / (texts + _TEXTS_FOR_HALF_RATE))
