"""The figures of a report, made from predictions for labelled texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.evaluation.coverage import CoverageCurve
from nlptx.evaluation.curves import RankingCurves, ranking_curves, reliability
from nlptx.evaluation.groups import Group
from nlptx.metrics import BINS, Report
from nlptx.report.chart import LEFT, RIGHT, WIDTH, Axis, Chart, Series, axis_start, count_axis, percent_axis

# Maximum number of labels whose curves are drawn, each in a different colour.
MAX_CURVES = 6
# Maximum number of labels in a confusion matrix, and maximum number of confusions in the list that replaces it if there
# are more labels.
MAX_MATRIX, MAX_CONFUSIONS = 12, 25
# Height of the chart of texts per bin, in SVG units.
_BINS_HEIGHT = 140
# Approximate width of a character below an axis, in the units of the charts.
_CHARACTER = 7


class Confidences(NamedTuple):
    """A name for the legend and, for each prediction, its confidence (texts,) and whether it is correct (texts,)."""

    name: str
    confidence: NDArray[np.float64]
    correct: NDArray[np.bool_]


def ranking_charts(
    labels: Sequence[str], probabilities: NDArray[np.float64] | None, targets: NDArray, multi_label: bool
) -> list[Chart]:
    """Return a chart of ROC curves and a chart of precision-recall curves; no charts if no curve is defined.

    Args:
        labels: names of the C labels.
        probabilities: (texts, C) probability of each label; None if they are unknown.
        targets: (texts,) class of each text; for multi-label data, (texts, C), True where a text has a label.
        multi_label: whether the data is multi-label.
    """
    if probabilities is None:
        return []
    has_label = targets if targets.ndim == 2 else targets[:, None] == np.arange(len(labels))
    counts = has_label.sum(axis=0)
    # If there are two labels, their ROC curves have the same area, so only the curve of the second label is drawn.
    shown = [1] if len(labels) == 2 and not multi_label else np.argsort(-counts, kind="stable")[:MAX_CURVES].tolist()
    drawn: list[tuple[int, RankingCurves]] = []
    for column in shown:
        curves = ranking_curves(probabilities[:, column], has_label[:, column])
        if curves is not None:
            drawn.append((column, curves))
    if not drawn:
        return []
    left = len(labels) - len(drawn)
    note = f" The {len(drawn)} most frequent labels are shown." if left and len(labels) > 2 else ""
    single, (first_column, first) = len(drawn) == 1, drawn[0]
    precision = first.average_precision
    roc = [
        Series(f"{labels[column]} (area {curves.area:.3f})", curves.roc, 1 + i)
        for i, (column, curves) in enumerate(drawn)
    ]
    recall = [
        Series(f"{labels[column]} (average precision {curves.average_precision:.3f})", curves.precision_recall, 1 + i)
        for i, (column, curves) in enumerate(drawn)
    ]
    of_one = f"The curve is for the label {labels[first_column]}."
    subject = of_one if single else "Each curve is for one label against all others."
    return [
        Chart(
            "roc",
            "ROC curve" if single else "ROC curves",
            f"{subject} A perfect curve touches the upper left corner. The dotted line shows random guessing."
            + (f" The area under the curve is {first.area:.3f}." if single else note),
            percent_axis("false positive rate"),
            percent_axis("true positive rate"),
            roc,
            diagonal=True,
        ),
        Chart(
            "precision-recall",
            "Precision and recall",
            f"{subject} Recall is the fraction of the label's texts that get the label."
            + (f" The dotted line shows random guessing. Average precision: {precision:.3f}." if single else note),
            percent_axis("recall"),
            percent_axis("precision"),
            recall,
            level=first.prevalence if single else None,
        ),
    ]


def lowest_value(confidences: Sequence[Confidences]) -> float:
    """Return the smallest value in a reliability diagram: the smaller of the lowest bin edge and accuracy."""
    bins = [part for each in confidences for part in reliability(each.confidence, each.correct)]
    return min(min(part.low, part.accuracy) for part in bins)


def reliability_charts(confidences: Sequence[Confidences], lowest: float = 1.0) -> list[Chart]:
    """Return the reliability diagram, and the chart of the number of texts in each bin.

    Args:
        confidences: the confidences after calibration and, if they are known, the confidences before calibration.
        lowest: value that the axes must include; pass the same value for several diagrams to give them equal axes.
    """
    series = []
    lowest = min(lowest, lowest_value(confidences))
    for number, (name, confidence, correct) in reversed([*enumerate(confidences, start=1)]):
        bins = reliability(confidence, correct)
        points = [(part.confidence, part.accuracy) for part in bins]
        intervals = [part.interval for part in bins] if number == 1 else []
        series.append(Series(name, points, number, "dots" if number == 1 else "dotted-line", intervals))
    start = axis_start(lowest, 0)
    bins = reliability(confidences[0].confidence, confidences[0].correct)
    bars = [((part.low + part.high) / 2, float(part.texts)) for part in bins]
    has_uncalibrated = len(confidences) > 1
    return [
        Chart(
            "reliability",
            "Reliability",
            "On the dotted diagonal, 80% of the predictions with a confidence of 80% are correct. Below the"
            " diagonal, the confidence is too high; above it, the confidence is too low. The vertical lines are 95%"
            " intervals." + (" The open points show the model before calibration." if has_uncalibrated else ""),
            percent_axis("confidence", start),
            percent_axis("accuracy", start),
            series,
            diagonal=True,
        ),
        Chart(
            "bins",
            "Texts at each confidence",
            "The number of texts in each bin of the reliability diagram. Points based on few texts are unreliable.",
            percent_axis("confidence", start),
            count_axis("texts", max(part.texts for part in bins)),
            [Series("", bars, 1, "bars", width=1 / BINS)],
            height=_BINS_HEIGHT,
        ),
    ]


def coverage_chart(curve: CoverageCurve) -> Chart:
    """Return the chart of accuracy against coverage."""
    points = [(point.coverage, point.accuracy) for point in map(curve.at, np.arange(1, 101) / 100)]
    points = list(dict.fromkeys(points))
    start = axis_start(min(accuracy for _, accuracy in points), 0)
    return Chart(
        "coverage",
        "Accuracy against coverage",
        "The accuracy if only the texts with the highest confidence get a label. Further to the left, fewer texts get"
        " a label, and a larger fraction of these labels should be correct."
        f" The mean error over all coverages (AURC) is {curve.aurc:.4f}.",
        percent_axis("coverage: texts that get a label"),
        percent_axis("accuracy", start),
        [Series("", points, kind="line" if len(points) > 1 else "dots")],
        marker=True,
    )


def coverage_steps(curve: CoverageCurve, chart: Chart) -> list[dict[str, Any]]:
    """Return the measures and chart coordinates for each position of the threshold control, from full coverage down."""
    points = list(dict.fromkeys(map(curve.at, np.arange(100, 0, -1) / 100)))
    return [
        {
            "threshold": curve.threshold(point),
            "coverage": round(point.coverage, 6),
            "accuracy": round(point.accuracy, 6),
            "texts": point.texts,
            "errors": round((1 - point.accuracy) * point.texts),
            "x": chart.to_x(point.coverage),
            "y": chart.to_y(point.accuracy),
        }
        for point in points
    ]


def length_chart(groups: Sequence[Group], accuracy: float) -> Chart:
    """Return the chart of accuracy by number of words, with one point per group of texts of similar length."""
    positions = range(1, len(groups) + 1)
    start = axis_start(min(group.interval[0] for group in groups), 0)
    points = [(position, group.accuracy) for position, group in zip(positions, groups, strict=True)]
    names = [group.name.replace(" to ", "\u2013") for group in groups]
    # If the names of all groups do not fit side by side, only every second or third one is shown.
    needed = _CHARACTER * max(map(len, names)) * len(names)
    step = max(1, -(-needed // (WIDTH - LEFT - RIGHT)))
    ticks = list(zip(positions, names, strict=True))[::step]
    return Chart(
        "length",
        "Accuracy by number of words",
        "Each point is a group of texts of similar length, with its 95% interval; the dotted line is the accuracy on"
        " all texts.",
        Axis(0.5, len(groups) + 0.5, ticks, "words"),
        percent_axis("accuracy", start),
        [Series("", points, 1, "dots", [group.interval for group in groups])],
        level=accuracy,
    )


class Confusion(NamedTuple):
    """A cell of the confusion matrix.

    ``texts`` is the number of texts in the cell. ``share`` is this number divided by the number of all texts with the
    same true label, including texts without a prediction. ``tint`` is the strength of the background colour, from 0 to
    5.
    """

    true: int
    predicted: int
    texts: int
    share: float
    tint: int


def confusion_rows(report: Report) -> list[list[Confusion]]:
    """Return the cells of the confusion matrix with fractions and colours; each row is a true label."""
    rows = []
    for true, counts in enumerate(report.confusion.tolist()):
        shares = [count / max(report.classes[true].texts, 1) for count in counts]
        rows.append([Confusion(true, i, counts[i], share, tint_of(share)) for i, share in enumerate(shares)])
    return rows


def most_frequent_confusions(rows: Sequence[Sequence[Confusion]]) -> list[Confusion]:
    """Return the most frequent errors, at most MAX_CONFUSIONS."""
    wrong = [cell for row in rows for cell in row if cell.texts and cell.true != cell.predicted]
    return sorted(wrong, key=lambda cell: -cell.texts)[:MAX_CONFUSIONS]


def tint_of(share: float) -> int:
    """Return the colour strength, from 0 to 5, for a fraction from 0 to 1. The result is 0 only for the fraction 0."""
    return min(int(np.ceil(share * 5 - 1e-9)), 5)
