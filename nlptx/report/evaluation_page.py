"""The page of ``nlptx evaluate --report``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.evaluation.coverage import CoverageCurve
from nlptx.evaluation.curves import reliability, without_temperature
from nlptx.evaluation.groups import Group, accuracy_by_length
from nlptx.evaluation.label_set_report import LabelSetReport
from nlptx.evaluation.labelled_predictions import LabelledPredictions, ModelPredictions
from nlptx.io.paths import FilePath
from nlptx.metrics import Report, calibration_error
from nlptx.report import figures
from nlptx.report.figures import Confidences
from nlptx.report.listed_texts import MAX_ERRORS, MAX_UNCERTAIN, list_texts
from nlptx.report.model_facts import describe_model
from nlptx.report.page import quantity, write_page
from nlptx.runtime.workers import SERIAL, Workers
from nlptx.version import __version__

# Maximum number of rows in the table for a ``--by`` column, which shows the accuracy for each value of the column.
MAX_GROUPS = 40

_SECTIONS = [
    ("labels", "Labels"),
    ("calibration", "Calibration"),
    ("coverage", "Coverage"),
    ("groups", "Groups and lengths"),
    ("texts", "Texts"),
    ("model", "Model and data"),
]


@dataclass(frozen=True)
class Evaluation:
    """Predictions for labelled texts, and all other information that the report shows.

    Args:
        predictions: predictions for all texts.
        report: quality of the predictions for the texts that get a label.
        data: paths of the labelled data.
        sha256: digest of the labelled data.
        model: the model that made the predictions; None if another program made them.
        answered: (texts,) whether each text gets a label; None if all texts get one. Only texts that get a label are
            evaluated, but the curve of accuracy against coverage includes all texts.
        groups: name of each column given with ``--by`` -> accuracy for each value of the column.
        notes: notes about the data, for example that the model was trained on it.
        command: command that makes the page; not shown if empty.
    """

    predictions: LabelledPredictions
    report: Report | LabelSetReport
    data: Sequence[str]
    sha256: str
    model: Model | None = None
    answered: NDArray[np.bool_] | None = None
    groups: Mapping[str, Sequence[Group]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    command: str = ""

    @property
    def labelled(self) -> LabelledPredictions:
        """Predictions for the texts that get a label."""
        return self.predictions if self.answered is None else self.predictions.take(self.answered)


def write_evaluation_page(path: FilePath, evaluation: Evaluation, workers: Workers = SERIAL) -> None:
    """Write the report of an evaluation as one HTML file.

    Args:
        path: file to write; its name ends in .html or .htm.
        evaluation: the predictions, their quality, and the other contents of the page.
        workers: threads or processes that compute the effect of each word in the listed texts.

    Raises:
        SettingsError: the file name does not end in .html or .htm.
        NlptxError: Jinja2 is not installed.
        OutputError: the file cannot be written.
    """
    write_page(path, "evaluate.html", **evaluation_context(evaluation, workers))


def evaluation_context(evaluation: Evaluation, workers: Workers = SERIAL) -> dict[str, Any]:
    """Return the values that the template ``evaluate.html`` needs."""
    labelled, report = evaluation.labelled, evaluation.report
    multi_label = isinstance(report, LabelSetReport)
    lengths = accuracy_by_length(labelled.texts, labelled.correct)
    texts = list_texts(labelled, evaluation.model, workers)
    data = ", ".join(evaluation.data)
    verb = "is" if report.texts == 1 else "are"
    name = "nlptx evaluation report"
    context = {
        "version": __version__,
        "title": f"{labelled.source} on {data}: {name}",
        "kind": name,
        "heading": f"{_percent(report.accuracy)} of {quantity(report.texts, 'text')} {verb} predicted correctly",
        "about": [("predictions of", labelled.source), ("data", data), ("texts", f"{report.texts:,}")],
        "figures": main_figures(report),
        "notes": [*_answered_notes(evaluation), *filter(None, [labelled.unanswered_note]), *evaluation.notes],
        "unanswered": labelled.unanswered,
        "labels": labelled.label_names,
        "multi_label": multi_label,
        "report": report,
        **_confusions(report),
        "ranking": figures.ranking_charts(labelled.label_names, labelled.probabilities, labelled.targets, multi_label),
        **_calibration(evaluation, labelled),
        **_coverage(evaluation.predictions),
        "by": [
            (column, groups[:MAX_GROUPS], max(len(groups) - MAX_GROUPS, 0))
            for column, groups in evaluation.groups.items()
        ],
        "length": figures.length_chart(lengths, report.accuracy),
        "lengths": lengths,
        "texts": texts,
        "texts_note": (
            f"Listed: {len(texts):,} of {quantity(report.texts, 'text')}, first the errors with the highest confidence"
            f" (at most {MAX_ERRORS}), then the texts with the lowest confidence (at most {MAX_UNCERTAIN})."
        ),
        "facts": None if evaluation.model is None else describe_model(evaluation.model, labelled.source),
        "data": [("data", data), ("SHA-256", evaluation.sha256)],
        "command": evaluation.command,
        "folds": None,
    }
    context["sections"] = [
        (name, title) for name, title in _SECTIONS if name not in context or context[name] is not None
    ]
    return context


def _coverage(predictions: LabelledPredictions) -> dict[str, Any]:
    if predictions.confidence is None:
        return {"coverage": None}
    confidence = predictions.confidence
    if isinstance(predictions, ModelPredictions):
        confidence = np.where(predictions.known_words > 0, confidence, 0.0)
    curve = CoverageCurve.of(confidence, predictions.correct)
    chart = figures.coverage_chart(curve)
    points = [(curve.threshold(point), point) for point in curve.table()]
    return {"coverage": chart, "coverage_points": points, "steps": figures.coverage_steps(curve, chart)}


def _calibration(evaluation: Evaluation, labelled: LabelledPredictions) -> dict[str, Any]:
    labelled = labelled.only_answered
    if labelled.confidence is None or not len(labelled):
        return {"calibration": None}
    if evaluation.model is not None and isinstance(labelled, ModelPredictions):
        confidences, note = _confidences(evaluation.model, labelled)
    else:
        confidences, note = [Confidences("", labelled.confidence, labelled.correct)], ""
    bins = reliability(labelled.confidence, labelled.correct)
    return {"calibration": figures.reliability_charts(confidences), "calibration_note": note, "bins": bins}


def _answered_notes(evaluation: Evaluation) -> list[str]:
    """Return a note if some texts get no label."""
    answered = evaluation.answered
    if answered is None or answered.all():
        return []
    return [
        f"Labels are given to {int(answered.sum()):,} of {len(answered):,} texts, those whose predictions are"
        " confident enough. All results except accuracy against coverage are measured on these texts."
    ]


def main_figures(report: Report | LabelSetReport) -> list[dict[str, str]]:
    """Return the measures at the top of the page, each with its name, its value and a note."""
    low, high = report.interval
    multi_label = isinstance(report, LabelSetReport)
    floor = (
        f"a perfectly calibrated model: {_percent(report.ece_floor.mean, 2)} on average, and below"
        f" {_percent(report.ece_floor.percentile_95, 2)} in 95% of samples"
    )
    rows = [
        (
            "all labels right" if multi_label else "accuracy",
            _percent(report.accuracy),
            f"95% interval {_percent(low)} to {_percent(high)}",
        )
    ]
    if isinstance(report, LabelSetReport):
        rows.append(("micro-F1", f"{report.micro_f1:.4f}", "F1 over all pairs of a text and a label"))
    else:
        rows.append(("majority baseline", _percent(report.majority), "always the most frequent label"))
    rows += [
        ("macro-F1", f"{report.macro_f1:.4f}", "mean F1 of the labels"),
        ("log-loss", f"{report.log_loss:.4f}", "in nats per text; lower is better"),
        ("calibration error", _percent(report.ece, 2), floor),
        ("texts", f"{report.texts:,}", quantity(len(report.classes), "label")),
    ]
    return [{"name": name, "value": value, "note": note} for name, value, note in rows if "nan" not in value]


def _percent(value: float, digits: int = 1) -> str:
    return f"{100 * value:.{digits}f}%"


def _confusions(report: Report | LabelSetReport) -> dict[str, Any]:
    """Return the confusion matrix, or the most frequent confusions if there are too many labels for a matrix."""
    if isinstance(report, LabelSetReport):
        return {"matrix": [], "confusions": []}
    rows = figures.confusion_rows(report)
    if len(rows) <= figures.MAX_MATRIX:
        return {"matrix": rows, "confusions": []}
    return {"matrix": [], "confusions": figures.most_frequent_confusions(rows)}


def _confidences(model: Model, labelled: ModelPredictions) -> tuple[list[Confidences], str]:
    """Return the confidences for the reliability diagram, and a sentence about the calibration."""
    after = Confidences("calibrated", labelled.confidence, labelled.correct)
    if model.temperature == 1:
        return [after], "The model is not calibrated: its temperature is 1."
    probabilities = without_temperature(model, labelled.probabilities, labelled.known_words > 0)
    predicted = model.choose(probabilities)
    before = Confidences(
        "before calibration",
        model.decision.confidence(probabilities, predicted),
        model.decision.correct(predicted, labelled.targets),
    )
    errors = [calibration_error(each.confidence, each.correct) for each in (before, after)]
    return [after, before], (
        f"The outputs of the network are divided by the temperature {model.temperature:g}, which was chosen on held-out"
        f" texts. On the texts of this report, the temperature changes the calibration error"
        f" from {_percent(errors[0], 2)} to {_percent(errors[1], 2)}."
    )
