"""Draws learning curves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.io.paths import FilePath
from nlptx.plots.style import BLUE, GREEN, GREY, ORANGE, percent_axis, picture
from nlptx.training.history import loss_curve


def plot_history(history: dict[str, Any], path: FilePath) -> None:
    """Plot the loss during training, and the validation loss and accuracy after each epoch.

    The accuracy has a separate panel below the losses. Without validation, only the training loss is drawn.

    Args:
        history: training history, such as :attr:`nlptx.Model.history`.
        path: file to write, ending in .png, .svg or .pdf.

    Raises:
        SettingsError: the file name does not end in .png, .svg or .pdf.
        NlptxError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    epochs = [epoch for epoch in history["epochs"] if "valid_loss" in epoch]
    with picture(path, 4.6 if epochs else 3) as figure:
        panels = figure.subplots(
            2 if epochs else 1, sharex=True, squeeze=False, height_ratios=[2, 1][: 1 + bool(epochs)]
        )
        losses = panels[0, 0]
        steps, values = np.array(loss_curve(history), float).reshape(-1, 2).T
        losses.plot(steps, values, color=BLUE, linewidth=0.6, alpha=0.35, label="training, mean of each interval")
        losses.plot(*_smoothed(steps, values), color=BLUE, label="training, moving average")
        losses.set_title("Learning curve")
        losses.set_ylabel("loss per text")
        if epochs:
            _add_validation(losses, panels[1, 0], epochs, history)
        panels[-1, 0].set_xlabel("training step (batches)")
        losses.legend()


def _add_validation(losses: Any, accuracies: Any, epochs: list[dict[str, Any]], history: dict[str, Any]) -> None:
    ends = [epoch["step"] for epoch in epochs]
    losses.plot(ends, [epoch["valid_loss"] for epoch in epochs], "o--", color=ORANGE, label="validation, each epoch")
    percent = [100 * epoch["valid_accuracy"] for epoch in epochs]
    accuracies.plot(ends, percent, "s-", color=GREEN)
    accuracies.set_ylabel("validation\naccuracy (%)")
    low, high = min(percent), max(percent)
    margin = max(1, (high - low) / 5)  # at least one percentage point on each side, so that small changes look small
    accuracies.set_ylim(low - margin, min(high + margin, 101))
    percent_axis(accuracies.yaxis)
    bottom, _ = accuracies.get_ylim()
    accuracies.set_yticks([tick for tick in accuracies.get_yticks() if bottom <= tick <= 100])
    kept = history["epochs"][history["best_epoch"] - 1]["step"]
    for axes in (losses, accuracies):
        axes.axvline(kept, color=GREY, linewidth=1, linestyle=":", label="kept: lowest validation loss")


def _smoothed(steps: NDArray, values: NDArray) -> tuple[NDArray, NDArray]:
    """Return moving averages of the steps and the values; each average is over a tenth of all points."""
    if not len(steps):
        return steps, values
    width = max(len(steps) // 10, 1)
    window = np.full(width, 1 / width)
    return np.convolve(steps, window, "valid"), np.convolve(values, window, "valid")
