"""The option ``--min-accuracy`` of ``evaluate`` and ``crossvalidate``."""

from __future__ import annotations

from nlptx.errors import QualityGateError


def check_accuracy(accuracy: float, minimum: float | None, name: str = "accuracy") -> None:
    """Raise QualityGateError if an accuracy is below ``--min-accuracy``; ``name`` is the name of the accuracy."""
    if minimum is not None and accuracy < minimum:
        raise QualityGateError(f"the {name} is {accuracy:.4f}, below --min-accuracy {minimum:g}")
