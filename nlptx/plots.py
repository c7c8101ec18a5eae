"""Plots of learning curves and word vectors, with matplotlib (the ``plot`` extra)."""

from __future__ import annotations

import colorsys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nlptx.embeddings.word_map import plane_positions, word_groups
from nlptx.errors import NlptxError, SettingsError
from nlptx.io.atomic_write import atomic_output
from nlptx.io.paths import FilePath, file_name
from nlptx.training.history import loss_curve

if TYPE_CHECKING:
    from nlptx.classifier.coverage import CoverageCurve
    from nlptx.embeddings.embeddings import Embeddings

FORMATS = ("png", "svg", "pdf")
GOLDEN = 0.618  # step from one hue to the next, chosen so that each hue differs clearly from all recent ones
SHIFTS = (0, 6, -6, 12, -12)  # vertical shifts of a word, in points, tried in turn until it overlaps no other word


def plot_history(history: dict[str, Any], path: FilePath) -> None:
    """Plot the loss during training, and the validation loss and accuracy after each epoch.

    Args:
        history: training history of a model.
        path: file to write, ending in .png, .svg or .pdf.

    Raises:
        SettingsError: the file name has none of these extensions.
        NlptxError: matplotlib is not installed.
        OutputError: the file cannot be written.
    """
    figure = _figure(path, 7, 4)
    figure.set_layout_engine("constrained")
    left = figure.add_subplot()
    steps, losses = np.array(loss_curve(history), float).reshape(-1, 2).T
    left.plot(steps, losses, color="tab:blue", linewidth=0.8, alpha=0.35)
    left.plot(*_smoothed(steps, losses), color="tab:blue", label="training loss")
    left.set_xlabel("step")
    left.set_ylabel("loss")
    epochs = [epoch for epoch in history["epochs"] if "valid_loss" in epoch]
    if epochs:
        ends = [epoch["step"] for epoch in epochs]
        left.plot(ends, [epoch["valid_loss"] for epoch in epochs], "o-", color="tab:orange", label="validation loss")
        kept = history["epochs"][history["best_epoch"] - 1]["step"]
        left.axvline(kept, color="grey", linewidth=0.8, linestyle=":", label="kept: lowest loss")
        right = left.twinx()
        percent = [100 * epoch["valid_accuracy"] for epoch in epochs]
        right.plot(ends, percent, "s--", color="tab:green", markersize=5, label="validation accuracy")
        right.set_ylabel("validation accuracy, %", color="tab:green")
    for axes in figure.axes:
        axes.spines["top"].set_visible(False)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    _save(figure, path)


def _smoothed(steps: NDArray, values: NDArray) -> tuple[NDArray, NDArray]:
    """Return moving averages of the steps and the values, over a window of a tenth of the points."""
    if not len(steps):
        return steps, values
    width = max(len(steps) // 10, 1)
    window = np.full(width, 1 / width)
    return np.convolve(steps, window, "valid"), np.convolve(values, window, "valid")


def plot_coverage(curve: CoverageCurve, path: FilePath) -> None:
    """Plot the accuracy on the most confident texts against coverage, their fraction of all texts.

    Args:
        curve: accuracy at every coverage.
        path: file to write, ending in .png, .svg or .pdf.

    Raises:
        SettingsError, NlptxError, OutputError: as for :func:`plot_history`.
    """
    figure = _figure(path, 7, 4)
    figure.set_layout_engine("constrained")
    axes = figure.add_subplot()
    points = [curve.at(percent / 100) for percent in range(1, 101)]
    axes.plot([100 * point.coverage for point in points], [100 * point.accuracy for point in points])
    axes.set_xlabel("coverage: answered texts, most confident first, %")
    axes.set_ylabel("accuracy of the answers, %")
    axes.grid(alpha=0.3)
    _save(figure, path)


def plot_words(embeddings: Embeddings, path: FilePath) -> None:
    """Draw a map of words, in which words that are used in similar contexts are close together.

    Each group of similar words has a colour. Frequent words are larger and are placed first; words for which there is
    no room are left out.

    Args:
        embeddings: the word vectors.
        path: file to write, ending in .png, .svg or .pdf.

    Raises:
        SettingsError, NlptxError, OutputError: as for :func:`plot_history`.
    """
    figure = _figure(path, 12, 9)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    groups = word_groups(embeddings)
    group_of = {word: number for number, group in enumerate(groups) for word in group}
    ids = list(group_of)
    positions = dict(zip(ids, plane_positions(embeddings, ids), strict=True))
    axes = figure.add_axes((0.04, 0.03, 0.92, 0.94))
    axes.set_axis_off()
    axes.update_datalim(list(positions.values()))
    axes.margins(0.01)
    axes.autoscale_view()
    canvas: Any = FigureCanvasAgg(figure)  # its methods have no type annotations
    boxes: list[Any] = []
    counts = np.log(np.maximum(embeddings.vocabulary.counts, 1))
    sizes = 7.5 + 5 * (counts - counts[ids].min()) / (np.ptp(counts[ids]) or 1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        for word in sorted(ids):
            text = axes.annotate(
                embeddings.vocabulary.words[word],
                positions[word],
                (0, 0),
                textcoords="offset points",
                size=sizes[word],
                color=_colour(group_of[word]),
                ha="center",
                va="center",
                parse_math=False,
            )
            for up in SHIFTS:
                text.set_position((0, up))
                box = text.get_window_extent(canvas.get_renderer()).expanded(1.05, 1)
                if not any(box.overlaps(other) for other in boxes):
                    boxes.append(box)
                    break
            else:
                text.remove()
        _save(figure, path)


def _colour(number: int) -> tuple[float, float, float]:
    return colorsys.hls_to_rgb(number * GOLDEN % 1, (0.36, 0.46)[number % 2], 0.75)


def check_extension(path: FilePath) -> None:
    """Raise SettingsError unless a file name ends in .png, .svg or .pdf."""
    if _suffix(path) not in FORMATS:
        raise SettingsError(f"{path}: a picture ends in .{', .'.join(FORMATS)}")


def _figure(path: FilePath, width: float, height: float) -> Any:
    """Check the extension of the file name, and return an empty matplotlib figure of the given size in inches."""
    check_extension(path)
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise NlptxError("drawing pictures needs matplotlib", hint="pip install 'nlptx[plot]'") from error
    return Figure(figsize=(width, height))


def _save(figure: Any, path: FilePath) -> None:
    """Write a figure without its date and random ids, so that equal figures produce equal bytes."""
    import matplotlib as mpl

    mpl.rcParams["svg.hashsalt"] = "nlptx"
    suffix = _suffix(path)
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[suffix]
    with atomic_output(path) as file:
        figure.savefig(file, format=suffix, dpi=150, metadata=metadata)


def _suffix(path: FilePath) -> str:
    return file_name(path).rpartition(".")[2].lower()
