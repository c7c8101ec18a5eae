"""Pictures of an evaluation: the reliability diagram, and accuracy against coverage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nlptx.io.paths import FilePath
from nlptx.metrics import BINS, calibration_error, confidence_bins, wilson_interval
from nlptx.plots.style import BLUE, GREY, ORANGE, percent_axis, picture

if TYPE_CHECKING:
    from nlptx.evaluation.coverage import CoverageCurve

# If the accuracy is the same at every coverage, the axis extends this many percentage points above and below the
# accuracy.
_MARGIN = 10


def plot_evaluation(
    curve: CoverageCurve, confidence: NDArray[np.float64], correct: NDArray[np.bool_], path: FilePath
) -> None:
    """Plot accuracy against confidence (the reliability diagram), and accuracy against coverage, side by side.

    Args:
        curve: accuracy at every coverage, which is the fraction of texts that get a label.
        confidence: (N,) confidence of each prediction.
        correct: (N,) whether each prediction is correct.
        path: file to write, ending in .png, .svg or .pdf.

    Raises:
        SettingsError, NlptxError, OutputError: as for :func:`nlptx.plots.history.plot_history`.
    """
    with picture(path, 3.6) as figure:
        left, right = figure.subfigures(1, 2)
        upper, lower = left.subplots(2, sharex=True, height_ratios=[4, 1])
        _draw_reliability(upper, lower, confidence, correct)
        _draw_coverage(right.add_subplot(), curve)


def _draw_reliability(upper: Any, lower: Any, confidence: NDArray[np.float64], correct: NDArray[np.bool_]) -> None:
    """Draw the accuracy in each confidence bin, with its 95% interval, and below it the number of texts per bin.

    The calibration error (ECE) is computed from these bins. Each point is drawn at the mean confidence of its bin.
    """
    bins = confidence_bins(confidence, BINS)
    counts, sums = np.bincount(bins, minlength=BINS), np.bincount(bins, confidence, BINS)
    hits = np.bincount(bins, correct, BINS)
    filled = np.flatnonzero(counts)
    accuracy, middle = 100 * hits[filled] / counts[filled], 100 * sums[filled] / counts[filled]
    intervals = [wilson_interval(int(hits[number]), int(counts[number])) for number in filled]
    low, high = 100 * np.array(intervals).T
    edges = 100 * np.arange(BINS + 1) / BINS
    start = edges[filled[0]]
    upper.plot([start, 100], [start, 100], color=GREY, linestyle="--", label="perfect calibration")
    # Because of rounding, the accuracy may be slightly outside its interval.
    errors = np.maximum([accuracy - low, high - accuracy], 0)
    upper.errorbar(
        middle, accuracy, errors, fmt="o-", color=BLUE, capsize=2, elinewidth=1, label="predictions, 95% interval"
    )
    upper.set_title(f"Reliability (ECE {100 * calibration_error(confidence, correct):.1f}%)")
    upper.set_ylabel("accuracy (%)")
    upper.legend(loc="best")
    lower.stairs(counts, edges, fill=True, color=BLUE, alpha=0.5)
    lower.set_xlim(start, 100)
    lower.set_ylabel("texts")
    lower.set_xlabel("confidence (%)")
    percent_axis(lower.xaxis)


def _draw_coverage(axes: Any, curve: CoverageCurve) -> None:
    """Draw the curve of accuracy against coverage, and the accuracy on all texts as a reference line."""
    points = [curve.at(percent / 100) for percent in range(1, 101)]
    complete = 100 * points[-1].accuracy
    axes.axhline(complete, color=GREY, linestyle="--", linewidth=1, label=f"all texts: {complete:.1f}%")
    coverage, accuracy = zip(*((100 * point.coverage, 100 * point.accuracy) for point in points), strict=True)
    is_flat = min(accuracy) == max(accuracy)
    # If all confidences are equal, there is only one point, at a coverage of 100%.
    marker = "o" if len(set(coverage)) == 1 else ""
    axes.plot(coverage, accuracy, color=ORANGE, marker=marker, clip_on=not marker, label="most confident texts")
    axes.set_title("Accuracy against coverage")
    axes.set_xlabel("coverage: texts that get a label (%)")
    axes.set_ylabel("accuracy of the labels (%)")
    axes.set_xlim(0, 100)
    if is_flat:
        axes.set_ylim(max(complete - _MARGIN, -1), min(complete + _MARGIN, 101))
    percent_axis(axes.yaxis)
    axes.legend(loc="best" if is_flat else "upper right")
