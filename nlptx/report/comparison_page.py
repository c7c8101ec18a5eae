"""The page of ``nlptx compare --report``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from nlptx.evaluation.alignment import label_text, predicted_text
from nlptx.evaluation.comparison import Comparison
from nlptx.evaluation.differences import only_first_correct
from nlptx.evaluation.labelled_predictions import LabelledPredictions
from nlptx.evaluation.pair import Difference
from nlptx.evaluation.verdict import verdict
from nlptx.io.paths import FilePath
from nlptx.report.chart import Chart
from nlptx.report.figures import Confidences, lowest_value, reliability_charts
from nlptx.report.listed_texts import MAX_CHARACTERS
from nlptx.report.page import write_page
from nlptx.version import __version__

# For each model of a pair, maximum number of listed texts that this model predicts correctly and the other does not.
MAX_EXAMPLES = 25
# Maximum number of models whose reliability curves are drawn.
_MAX_DIAGRAMS = 6


class DrawnDifference(NamedTuple):
    """A difference and its interval, as text and as positions on an axis from 0 to 100, where 50 is no difference."""

    name: str
    value: str
    interval: str
    low: float
    middle: float
    high: float


class Example(NamedTuple):
    """A text that only one of two models predicts correctly.

    Args:
        right: name of the model that predicts the text correctly.
        wrong: name of the other model.
        pair: number of the pair of models, and number of the correct model within the pair (1 or 2), such as "1-2".
        where: position in the input, as ``file:line`` or ``file``.
        label: the true label.
        predicted: the wrong prediction.
        confidences: confidence of the correct and of the wrong prediction, each None if unknown or if there is no
            prediction.
        text: the part of the text that is shown.
        is_cut: whether only the beginning of the text is shown.
    """

    right: str
    wrong: str
    pair: str
    where: str
    label: str
    predicted: str
    confidences: tuple[float | None, float | None]
    text: str
    is_cut: bool


def write_comparison_page(
    path: FilePath,
    comparison: Comparison,
    predictions: Sequence[LabelledPredictions],
    data: Sequence[str] = (),
    notes: Sequence[str] = (),
    command: str = "",
) -> None:
    """Write the report of a comparison as one HTML file.

    Args:
        path: file to write; its name ends in .html or .htm.
        comparison: quality of each model, and differences between the models.
        predictions: predictions of each model, aligned by :func:`nlptx.evaluation.alignment.align`.
        data: names of the inputs.
        notes: notes about the data.
        command: command that makes the page; not shown if empty.

    Raises:
        SettingsError, NlptxError, OutputError: as for :func:`nlptx.report.page.write_page`.
    """
    names = [each.source for each in comparison.candidates]
    first = comparison.pairs[0]
    kind = "nlptx comparison report"
    gain = _signed(100 * first.accuracy.value, 2)
    diagrams = _diagrams(predictions[:_MAX_DIAGRAMS])
    context: dict[str, Any] = {
        "version": __version__,
        "title": f"{' and '.join(names)}: {kind}",
        "kind": kind,
        "heading": f"Accuracy: {first.second} minus {first.first} = {gain} points"
        if len(names) == 2
        else "Which is better?",
        "about": [("texts", f"{comparison.texts:,}"), ("inputs", ", ".join(data))],
        "sections": [
            ("models", "Models"),
            ("differences", "Differences"),
            *([("calibration", "Calibration")] if diagrams else []),
            ("texts", "Texts"),
            *([("again", "Make this report again")] if command else []),
        ],
        "verdicts": [verdict(pair) for pair in comparison.pairs],
        "notes": [*notes, *(f"{each.source}: {each.unanswered_note}" for each in predictions if each.unanswered)],
        "candidates": comparison.candidates,
        "groups": comparison.groups,
        "pairs": [(pair, _differences(pair.accuracy, pair.macro_f1, pair.log_loss)) for pair in comparison.pairs],
        "diagrams": diagrams,
        "examples": _examples(predictions),
        "kinds": [
            (f"{number}-{position}", f"{right} right, {wrong} wrong")
            for number, pair in enumerate(comparison.pairs, start=1)
            for position, right, wrong in ((1, pair.first, pair.second), (2, pair.second, pair.first))
        ],
        "max_examples": MAX_EXAMPLES,
        "max_diagrams": _MAX_DIAGRAMS,
        "command": command,
    }
    write_page(path, "compare.html", **context)


def _diagrams(predictions: Sequence[LabelledPredictions]) -> list[Chart]:
    """Return the reliability diagrams of the models that have confidences, all with the same axes."""
    known = [
        Confidences(each.source, each.confidence, each.correct)
        for each in (every.only_answered for every in predictions)
        if each.confidence is not None and len(each)
    ]
    lowest = min((lowest_value([each]) for each in known), default=1.0)
    charts = [reliability_charts([each], lowest)[0] for each in known]
    return [
        replace(chart, name=f"{chart.name}-{number}", title=each.name)
        for number, (chart, each) in enumerate(zip(charts, known, strict=True), start=1)
    ]


def _signed(value: float, digits: int) -> str:
    """Return a number with its sign. The minus sign is U+2212, which is as wide as a plus sign."""
    return f"{value:+.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _differences(accuracy: Difference, macro_f1: Difference, log_loss: Difference | None) -> list[DrawnDifference]:
    rows = [_drawn("accuracy, points", accuracy, 100, 2), _drawn("macro-F1", macro_f1, 1, 4)]
    return rows if log_loss is None else [*rows, _drawn("log-loss", log_loss, 1, 4)]


def _drawn(name: str, difference: Difference, unit: float, digits: int) -> DrawnDifference:
    value, low, high = (unit * each for each in (difference.value, difference.low, difference.high))
    largest = max(abs(low), abs(high), abs(value)) or 1.0
    positions = [round(50 + 48 * each / largest, 1) for each in (low, value, high)]
    interval = f"{_signed(low, digits)} to {_signed(high, digits)}"
    return DrawnDifference(name, _signed(value, digits), interval, *positions)


def _examples(predictions: Sequence[LabelledPredictions]) -> list[Example]:
    examples = []
    for number, other in enumerate(predictions[1:], start=1):
        for position, (right, wrong) in enumerate(((predictions[0], other), (other, predictions[0])), start=1):
            for row in only_first_correct(right, wrong, MAX_EXAMPLES):
                document = right.documents[row]
                examples.append(
                    Example(
                        right.source,
                        wrong.source,
                        f"{number}-{position}",
                        document.where,
                        label_text(right, right.targets[row]) or "none",
                        predicted_text(wrong, row) or "none",
                        (_confidence(right, row), _confidence(wrong, row)),
                        document.text[:MAX_CHARACTERS],
                        len(document.text) > MAX_CHARACTERS,
                    )
                )
    return examples


def _confidence(predictions: LabelledPredictions, row: int) -> float | None:
    if predictions.confidence is None or not predictions.is_answered(row):
        return None
    return float(predictions.confidence[row])
