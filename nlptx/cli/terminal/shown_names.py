"""The names under which summaries show measures. JSON output and model files use the original names."""

from __future__ import annotations

from typing import Any

# Names that would be unclear with only their underscores replaced.
_SHOWN = {
    "accuracy": "training accuracy",
    "ece_after": "ECE after calibration",
    "ece_before": "ECE before calibration",
    "ece_floor_after": "ECE by chance",
    "log_loss_after": "log-loss after calibration",
    "log_loss_before": "log-loss before calibration",
    "loss": "training loss",
    "loss_without": "loss without the subword model",
    "ngrams": "n-grams",
    "peak_memory_mb": "peak memory (MB)",
    "region_loss": "loss of the filters",
    "seconds": "time (s)",
    "network_loss": "loss of the network",
    "subword_loss": "loss of the subword model",
    "valid_accuracy": "validation accuracy",
    "valid_loss": "validation loss",
    "valid_texts": "validation texts",
    "weight": "weight of the subword model",
    "weight_of_others": "weight of the other classifiers",
}


def shown_name(name: str) -> str:
    """Return the name under which a measure of a training run is shown."""
    return _SHOWN.get(name, name.replace("_", " "))


def with_shown_names(measures: dict[str, Any]) -> dict[str, Any]:
    """Return the measures of a training run under the names that are shown."""
    return {shown_name(name): value for name, value in measures.items()}
