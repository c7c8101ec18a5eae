"""Summarises the training history that is stored in a model."""

from __future__ import annotations

from typing import Any


def loss_curve(history: dict[str, Any]) -> list[tuple[float, float]]:
    """Return the points (step, loss) of the training curve.

    The loss of a point is the mean training loss over the steps since the previous point. If this interval is less than
    half as long as the longest interval between two points, the point is merged into the previous one, because a mean
    over only a few steps is noisy and would look like a jump in the curve. Earlier versions of nlptx recorded such
    points at the ends of epochs.
    """
    points = [(step, loss) for step, loss in history["curve"]]
    intervals = [end - start for (start, _), (end, _) in zip([(0, 0.0), *points], points, strict=False)]
    joined: list[tuple[float, float, float]] = []  # number of steps, last step, mean loss
    for steps, (end, loss) in zip(intervals, points, strict=True):
        before, _, mean = joined[-1] if joined else (0, 0, 0)
        if before > 0 and 0 <= steps < max(intervals) / 2:
            joined[-1] = before + steps, end, (before * mean + steps * loss) / (before + steps)
        else:
            joined.append((steps, end, loss))
    return [(end, loss) for _, end, loss in joined]


def has_epochs(history: dict[str, Any]) -> bool:
    """Return whether a network was trained. Without a network, the loss curve in the history is empty."""
    return bool(history.get("curve") or history.get("steps"))


def best_measures(history: dict[str, Any]) -> dict[str, Any]:
    """Return the losses and accuracies of the best epoch; an empty dictionary if there is no best epoch.

    If classifiers were added to the network, the validation measures are those of the complete model.
    """
    epochs = history.get("epochs", [])
    best: dict[str, Any] = next((epoch for epoch in epochs if epoch["epoch"] == history["best_epoch"]), {})
    complete = history.get("regions", {}) | history.get("subwords", {})
    return {**best, **{name: complete[name] for name in ("valid_loss", "valid_accuracy") if name in complete}}


def reason_for_best(history: dict[str, Any]) -> str:
    """Return the reason for keeping the weights of the best epoch."""
    validated = any("valid_loss" in epoch for epoch in history["epochs"])
    return "lowest validation loss" if validated else "last epoch, because no texts were held out"
