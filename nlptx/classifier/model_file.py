"""The contents of a model file: arrays, and JSON values such as labels, history and temperature."""

from __future__ import annotations

import os
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.block_floats import float_arrays, read_floats, rounded
from nlptx.artifacts.validation import read_history, read_tokenizer, read_vocabulary, require_array
from nlptx.classifier.abstention import ErrorCurve
from nlptx.classifier.decision import MultiLabelDecision
from nlptx.classifier.label_types import label_name, restore_labels, type_names
from nlptx.classifier.model_contents import ModelContents
from nlptx.classifier.network import Network, feature_widths, uninitialized_network
from nlptx.classifier.region_fusion import RegionFusion
from nlptx.classifier.surprise import TypicalSurprise
from nlptx.errors import ArtifactError, CorruptError, SettingsError
from nlptx.ngrams.serialization import feature_arrays, read_ngram_features, rounded_features
from nlptx.nn import LOSSES, flatten
from nlptx.settings import TrainSettings

# Detail that only balanced models have. Those of nlptx 0.1.0 lack it: their classes had weights in the loss.
_DECISION = "decision"


def details_of(model: ModelContents) -> dict[str, Any]:
    """Return the JSON values to store.

    Labels are stored by name. Their types are stored only if a label is not a str.
    """
    tokenizer = model.vocabulary.tokenizer
    types = type_names(model.labels)
    return {
        "labels": [label_name(label) for label in model.labels],
        **({} if set(types) == {"str"} else {"label_types": types}),
        **({} if model.multi_label is None else _details_of_sets(model.multi_label)),
        **({_DECISION: "balanced"} if model.settings.class_weight == "balanced" else {}),
        "values": model.values,
        "history": model.history,
        "source": model.source,
        "temperature": model.temperature,
        **({} if model.error_curve is None else {"held_out": model.error_curve.to_dict()}),
        **({} if model.typical_surprise is None else {"typical_surprise": model.typical_surprise.to_dict()}),
        **({} if model.regions is None else model.regions.details()),
        "card": model.card,
        "tokenizer": tokenizer.name,
        "lowercase": tokenizer.lowercase,
    }


def read_details(details: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a model that are stored as JSON. Raises CorruptError if a value is invalid."""
    names, values = details.get("labels"), details.get("values")
    history, source = read_history(details), details.get("source")
    if not isinstance(names, list) or len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise CorruptError(f"its labels are {names!r}; expected at least two strings")
    if len(set(names)) != len(names):
        raise CorruptError(f"duplicate label: {names!r}")
    labels = restore_labels(names, details["label_types"]) if "label_types" in details else names
    if values is not None and (len(values) != len(names) or not all(-1 <= value <= 1 for value in values)):
        raise CorruptError(f"its label values are {values!r}; expected a number from -1 to 1 for each label")
    if not isinstance(source, dict):
        raise CorruptError("its record of the training data is damaged")
    temperature, card = details.get("temperature"), details.get("card")
    if type(temperature) is not float or not 1e-3 <= temperature <= 1e3:
        raise CorruptError(f"its temperature is {temperature!r}; expected a number from 0.001 to 1000")
    if not isinstance(card, dict):
        raise CorruptError("its card is damaged")
    return {
        "labels": labels,
        "values": values,
        "history": history,
        "source": source,
        "temperature": temperature,
        "card": card,
        "error_curve": ErrorCurve.from_dict(details["held_out"]) if "held_out" in details else None,
        "typical_surprise": TypicalSurprise.from_dict(details["typical_surprise"])
        if "typical_surprise" in details
        else None,
        "multi_label": _read_sets(details, names) if "label_separator" in details else None,
    }


def _details_of_sets(decision: MultiLabelDecision) -> dict[str, Any]:
    return {"label_separator": decision.separator, "thresholds": decision.thresholds.tolist()}


def _read_sets(details: dict[str, Any], names: list[str]) -> MultiLabelDecision:
    """Restore the decision rule of a multi-label model. Raises CorruptError if a stored value is invalid."""
    separator, thresholds = details["label_separator"], details.get("thresholds")
    if not isinstance(separator, str) or not separator or any(separator in name for name in names):
        raise CorruptError(f"its label separator is {separator!r}; expected a string that no label contains")
    if (
        not isinstance(thresholds, list)
        or len(thresholds) != len(names)
        or not all(type(value) is float and 0 < value < 1 for value in thresholds)
    ):
        raise CorruptError("its thresholds are damaged")
    return MultiLabelDecision(separator, np.array(thresholds))


def round_like_file(model: ModelContents) -> None:
    """If ``compact`` is set, round the model's word vectors and n-gram features to the values that its file will store.

    Without rounding, the model in memory and the model that is read from the file would give different predictions.
    """
    if model.settings.compact:
        model.table = rounded(model.table)
        if model.ngram_features is not None:
            model.ngram_features = rounded_features(model.ngram_features)


def arrays_of(model: ModelContents) -> dict[str, NDArray]:
    """Return the arrays to store."""
    compact = model.settings.compact
    arrays = float_arrays("table", model.table, compact)
    arrays |= {"flat": model.flat, "priors": model.priors, **model.vocabulary.to_arrays()}
    if model.ngram_features is not None:
        arrays |= feature_arrays(model.ngram_features, compact)
    return arrays if model.regions is None else arrays | model.regions.arrays()


def read_arrays(artifact: Artifact) -> dict[str, Any]:
    """Return the attributes of a model that are built from an artifact's arrays.

    Raises:
        CorruptError: an array is invalid, or does not match the settings or the other arrays.
    """
    settings = TrainSettings.from_dict(artifact.settings)
    vocabulary = read_vocabulary(artifact, read_tokenizer(dict(artifact.details)))
    table = read_floats(artifact, "table", settings.compact, (len(vocabulary), None))
    flat = require_array(artifact, "flat", "float32", (None,))
    priors = require_array(artifact, "priors", "float64", (len(artifact.details["labels"]),))
    if settings.loss not in LOSSES:
        raise CorruptError(f"its loss is {settings.loss!r}; expected one of {', '.join(LOSSES)}")
    independent = LOSSES[settings.loss].independent
    if independent != ("label_separator" in artifact.details):
        needed, stored = ("multi", "single") if independent else ("single", "multi")
        raise CorruptError(f"its loss {settings.loss} is for {needed}-label texts, but the model is {stored}-label")
    if not ((priors >= 0) & (priors <= 1)).all() or (not independent and abs(priors.sum() - 1) > 1e-6):
        raise CorruptError("its prior probabilities are out of range, or do not sum to 1")
    if settings.class_weight == "balanced" and not priors.all():
        raise CorruptError("a label of a balanced model has a prior probability of 0")
    ngram_features = read_ngram_features(artifact, settings, len(vocabulary), len(priors))
    network = uninitialized_network(settings, table.shape[1], len(priors), feature_widths(ngram_features), len(flat))
    parameters = flatten(network)
    parameters[:] = flat
    regions = _read_regions(artifact, len(vocabulary), network.loss.outputs)
    if settings.class_weight == "balanced" and _DECISION not in artifact.details:
        _add_log_priors(network, regions, priors, artifact.details["temperature"])
    return {
        "vocabulary": vocabulary,
        "table": table,
        "priors": priors,
        "settings": settings,
        "network": network,
        "flat": parameters,
        "made_from": artifact.made_from,
        "seed": artifact.seed,
        "ngram_features": ngram_features,
        "regions": regions,
    }


def _read_regions(artifact: Artifact, words: int, outputs: int) -> RegionFusion | None:
    """Return the region classifier in a model file; None if there is none. Raises CorruptError if it is damaged."""
    if not any(name.startswith("region_") for name in artifact.arrays):
        return None
    return RegionFusion.read(artifact, words, outputs)


def _add_log_priors(
    network: Network, regions: RegionFusion | None, priors: NDArray[np.float64], temperature: float
) -> None:
    """Adapt a balanced model of nlptx 0.1.0, which gave all classes the same total weight in the loss.

    The outputs of such a model lack the logarithms of the priors.

    Raises:
        ArtifactError: the network has no bias to which the logarithms could be added.
    """
    factor = 1.0 if regions is None else regions.weights[0]
    if network.head.bias is None or not factor:
        raise ArtifactError(
            "it was trained with `class_weight=balanced` by an earlier version, and cannot be adapted",
            hint="Train the model again.",
        )
    network.head.bias.value[...] += temperature / factor * network.loss.outputs_for(priors)


def bundled_path() -> str:
    """Return the path of the model bundled with nlptx. Raises SettingsError if the file does not exist."""
    path = str(resources.files("nlptx") / "default_model.npz")
    if not os.path.exists(path):
        raise SettingsError("nlptx was installed without its bundled model", hint="Specify a model file.")
    return path
