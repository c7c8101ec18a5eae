"""The JSON values that a model file contains in addition to its arrays, such as labels, history and temperature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nlptx.artifacts.validation import read_history
from nlptx.classifier.abstention import ErrorCurve
from nlptx.classifier.label_types import label_name, restore_labels, type_names
from nlptx.errors import CorruptError

if TYPE_CHECKING:
    from nlptx.classifier.model import Model


def write_details(model: Model) -> dict[str, Any]:
    """Return the JSON values to store. Labels are stored by name; their types are stored unless all are str."""
    tokenizer = model.vocabulary.tokenizer
    types = type_names(model.labels)
    return {
        "labels": [label_name(label) for label in model.labels],
        **({} if set(types) == {"str"} else {"label_types": types}),
        "values": model.values,
        "history": model.history,
        "source": model.source,
        "temperature": model.temperature,
        **({} if model.held_out is None else {"held_out": model.held_out.to_dict()}),
        "card": model.card,
        "tokenizer": tokenizer.name,
        "lowercase": tokenizer.lowercase,
    }


def read_details(details: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of :class:`Model` that are stored as JSON. Raises CorruptError if they are invalid."""
    names, values = details.get("labels"), details.get("values")
    history, source = read_history(details), details.get("source")
    if not isinstance(names, list) or len(names) < 2 or not all(isinstance(name, str) for name in names):
        raise CorruptError(f"its labels are {names!r}")
    if len(set(names)) != len(names):
        raise CorruptError(f"duplicate label: {names!r}")
    labels = restore_labels(names, details["label_types"]) if "label_types" in details else names
    if values is not None and (len(values) != len(names) or not all(-1 <= value <= 1 for value in values)):
        raise CorruptError(f"its label values are {values!r}")
    if not isinstance(source, dict):
        raise CorruptError("its record of the training data is damaged")
    temperature, card = details.get("temperature"), details.get("card")
    if type(temperature) is not float or not 1e-3 <= temperature <= 1e3:
        raise CorruptError(f"its temperature is {temperature!r}")
    if not isinstance(card, dict):
        raise CorruptError("its card is damaged")
    return {
        "labels": labels,
        "values": values,
        "history": history,
        "source": source,
        "temperature": temperature,
        "card": card,
        "held_out": ErrorCurve.from_dict(details["held_out"]) if "held_out" in details else None,
    }
