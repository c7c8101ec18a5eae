"""Pictures of a training, with matplotlib (the ``plot`` extra)."""

from __future__ import annotations

from typing import Any

from nlptx.errors import NlptxError, SettingsError
from nlptx.output import atomic_output

FORMATS = ("png", "svg", "pdf")


def plot_history(history: dict[str, Any], path: str) -> None:
    """Draw the loss curve of a training, and the validation after each epoch.

    Args:
        history: of a model.
        path: a file ending in .png, .svg or .pdf.

    Raises:
        SettingsError: another ending.
        NlptxError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    suffix = path.rpartition(".")[2].lower()
    if suffix not in FORMATS:
        raise SettingsError(f"{path}: a picture ends in .{', .'.join(FORMATS)}")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NlptxError("drawing pictures needs matplotlib", hint="pip install 'nlptx[plot]'") from error
    figure = Figure(figsize=(7, 4), layout="constrained")
    left = figure.add_subplot()
    left.plot([step for step, _ in history["curve"]], [loss for _, loss in history["curve"]], label="training loss")
    left.set_xlabel("step")
    left.set_ylabel("loss")
    judged = [epoch for epoch in history["epochs"] if "valid_loss" in epoch]
    if judged:
        ends = [epoch["step"] for epoch in judged]
        left.plot(ends, [epoch["valid_loss"] for epoch in judged], "o-", label="validation loss")
        left.axvline(
            history["epochs"][history["best_epoch"] - 1]["step"],
            color="grey",
            linewidth=0.8,
            linestyle=":",
            label="kept",
        )
        right = left.twinx()
        right.plot(ends, [epoch["valid_accuracy"] for epoch in judged], "s--", color="tab:green")
        right.set_ylabel("validation accuracy", color="tab:green")
    left.legend(loc="upper right")
    # No date and no random ids, so the same model gives the same bytes.
    mpl.rcParams["svg.hashsalt"] = "nlptx"
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]
    with atomic_output(path) as file:
        figure.savefig(file, format=suffix, dpi=150, metadata=metadata)
