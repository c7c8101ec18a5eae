"""Describes a model for a report: its size and labels, its card, its settings, and how it was made."""

from __future__ import annotations

from typing import Any, NamedTuple

from nlptx.artifacts import provenance
from nlptx.classifier.model import Model

Facts = list[tuple[str, str]]
# Maximum number of labels that are listed.
_MAX_LABELS = 50


class ModelFacts(NamedTuple):
    """Facts about a model, as names and values, and the commands that made the model."""

    model: Facts
    card: Facts
    digests: Facts
    settings: Facts
    commands: list[str]


def describe_model(model: Model, source: str) -> ModelFacts:
    """Collect the facts that a report shows about a model.

    Args:
        model: the classifier.
        source: path of the model, or ``bundled``.

    Raises:
        CorruptError: the model's record of how it was made is damaged.
    """
    headers, commands = provenance.trace(model.to_artifact(), source if source.endswith(".npz") else "")
    names = model.label_names
    shown = ", ".join(names[:_MAX_LABELS]) + (", ..." if len(names) > _MAX_LABELS else "")
    facts = [
        ("model", source),
        ("labels", shown),
        ("words", f"{len(model.vocabulary):,}"),
        ("parameters", f"{model.parameters:,}"),
        ("seed", str(model.seed)),
        ("temperature", f"{model.temperature:g}"),
    ]
    digests = []
    for header in headers:
        details = header["details"] if header["kind"] != "model" else header["details"].get("source", {})
        for name, value in details.items():
            if name.endswith("sha256"):
                texts = name.removesuffix("_sha256").removesuffix("sha256").replace("_", " ")
                digests.append((f"SHA-256, {header['kind']} {texts or 'data'}", str(value)))
    settings = [(name, str(value)) for name, value in model.settings.to_dict().items()]
    return ModelFacts(facts, card_rows(model.card), digests, settings, commands)


def card_rows(card: dict[str, Any]) -> Facts:
    """Return the entries of a model card as names and values. The text of a list or an object has one line per item."""
    rows = []
    for name, value in card.items():
        if isinstance(value, dict):
            lines = [f"{part}: {fact}" for part, fact in value.items()]
        else:
            lines = [str(part) for part in value] if isinstance(value, list) else [str(value)]
        rows.append((name.replace("_", " "), "\n".join(lines)))
    return rows
