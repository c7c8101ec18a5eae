"""The report of ``nlptx evaluate``, as tables or as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from nlptx.cli.terminal.reporter import Reporter

if TYPE_CHECKING:
    from nlptx.evaluation.groups import Group
    from nlptx.evaluation.label_set_report import LabelSetReport
    from nlptx.metrics import Report

# The confusion matrix is printed if there are at most _MAX_DRAWN labels. Otherwise, the _MAX_LISTED most frequent
# errors are listed.
_MAX_DRAWN, _MAX_LISTED = 12, 10
# Maximum number of rows in a table of groups. Each group consists of all texts with the same value in a column.
_MAX_GROUPS = 40


def as_json(report: Report | LabelSetReport) -> dict[str, Any]:
    """Return a report as JSON values; NaN becomes None."""

    def plain(value: Any) -> Any:
        if isinstance(value, float) and math.isnan(value):
            return None
        if isinstance(value, dict):
            return {name: plain(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [plain(part) for part in value]
        return value.tolist() if hasattr(value, "tolist") else value

    result: dict[str, Any] = plain(asdict(report))
    return result


def _most_frequent(confusion: list[list[int]], labels: list[str]) -> list[tuple[str, str, int]]:
    """Return (true label, predicted label, number of texts) for each of the most frequent errors."""
    wrong = [
        (labels[true], labels[predicted], count)
        for true, row in enumerate(confusion)
        for predicted, count in enumerate(row)
        if count and true != predicted
    ]
    return sorted(wrong, key=lambda row: -row[2])[:_MAX_LISTED]


def groups_as_json(groups: Mapping[str, Sequence[Group]]) -> dict[str, Any]:
    """Return a dictionary with the JSON field ``by``: column -> groups of texts. Without columns, return {}."""
    if not groups:
        return {}
    return {
        "by": {column: [asdict(group) for group in groups_of_column] for column, groups_of_column in groups.items()}
    }


def draw_groups(groups: Mapping[str, Sequence[Group]], reporter: Reporter) -> None:
    """Print one table per column: for each value of the column, the accuracy on the texts with this value."""
    for column, groups_of_column in groups.items():
        rows = [
            (group.name or "(empty)", group.texts, f"{group.accuracy:.2%}", f"{low:.2%} to {high:.2%}")
            for group in groups_of_column[:_MAX_GROUPS]
            for low, high in [group.interval]
        ]
        left_out = len(groups_of_column) - len(rows)
        title = f"by {column}" + (f" ({left_out:,} smaller groups are not shown)" if left_out else "")
        reporter.table(title, (column, "texts", "accuracy", "95% interval"), rows)


def draw_report(subject: dict[str, Any], report: Report | LabelSetReport, unknown: int, reporter: Reporter) -> None:
    """Print a report as tables.

    Args:
        subject: what was evaluated: "model" (str), "data" (list of str), "seed" (int or None) and, if only confident
            predictions are evaluated, "labelled" (str: the fraction of the texts that are evaluated, and their minimum
            confidence).
        report: the measures to print.
        unknown: number of texts without a known word.
        reporter: prints the tables.
    """
    from nlptx.evaluation.label_set_report import LabelSetReport

    (low, high), floor = report.interval, report.ece_floor
    by_chance = f"by chance alone {floor.mean:.2%} on average, 95th percentile {floor.percentile_95:.2%}"
    about: list[tuple[str, Any]] = [
        ("model", subject["model"]),
        *([] if subject["seed"] is None else [("seed", str(subject["seed"]))]),
        ("data", " ".join(subject["data"])),
        ("texts", report.texts),
        *([("labelled", subject["labelled"])] if "labelled" in subject else []),
        *([("without a known word", unknown)] if unknown else []),
    ]
    accuracy = f"{report.accuracy:.2%}  (95% interval {low:.2%} to {high:.2%})"
    ece = ("calibration error", f"{report.ece:.2%}  ({by_chance})")
    if isinstance(report, LabelSetReport):
        _draw_sets(about, accuracy, ece, report, reporter)
    else:
        _draw_classes(about, accuracy, ece, report, reporter)


def _if_known(*facts: tuple[float, tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Given pairs (value, table row), return the table rows of the pairs whose value is not NaN."""
    return [row for value, row in facts if not math.isnan(value)]


def _draw_sets(
    about: list[tuple[str, Any]], accuracy: str, ece: tuple[str, str], report: LabelSetReport, reporter: Reporter
) -> None:
    precision_recall = f"(precision {report.micro_precision:.4f}, recall {report.micro_recall:.4f})"
    facts: list[tuple[str, Any]] = [
        *about,
        ("labels per text", f"{report.labels_per_text:.2f}  (predicted {report.predicted_per_text:.2f})"),
        ("subset accuracy", accuracy),
        ("micro-F1", f"{report.micro_f1:.4f}  {precision_recall}"),
        ("macro-F1", f"{report.macro_f1:.4f}"),
        *_if_known(
            (report.auc, ("ROC-AUC", f"{report.auc:.4f}")),
            (report.log_loss, ("log-loss", f"{report.log_loss:.4f}  (sum over the labels)")),
            (report.ece, ece),
        ),
    ]
    reporter.facts("evaluation", facts)
    rows = [
        (
            *(row.label, f"{row.precision:.4f}", f"{row.recall:.4f}", f"{row.f1:.4f}"),
            *(row.texts, "-" if math.isnan(row.threshold) else f"{row.threshold:.4f}"),
        )
        for row in report.classes
    ]
    reporter.table("by label", ("label", "precision", "recall", "F1", "texts", "threshold"), rows)


def _draw_classes(
    about: list[tuple[str, Any]], accuracy: str, ece: tuple[str, str], report: Report, reporter: Reporter
) -> None:
    facts: list[tuple[str, Any]] = [
        *about,
        ("accuracy", accuracy),
        ("majority baseline", f"{report.majority:.2%}"),
        ("balanced accuracy", f"{report.balanced_accuracy:.2%}"),
        ("macro-F1", f"{report.macro_f1:.4f}"),
        *_if_known(
            (report.auc, ("ROC-AUC", f"{report.auc:.4f}")),
            (report.log_loss, ("log-loss", f"{report.log_loss:.4f}")),
            (report.ece, ece),
        ),
    ]
    if (error := report.mean_absolute_error) is not None and len(report.classes) > 2:
        of_answered = " of answered texts" if report.confusion.sum() < report.texts else ""
        facts += _if_known((error, (f"mean absolute error{of_answered}", f"{error:.4f} steps")))
    reporter.facts("evaluation", facts)
    rows = [
        (row.label, f"{row.precision:.4f}", f"{row.recall:.4f}", f"{row.f1:.4f}", row.texts) for row in report.classes
    ]
    reporter.table("by label", ("label", "precision", "recall", "F1", "texts"), rows)
    labels = [row.label for row in report.classes]
    if len(labels) > _MAX_DRAWN:
        if frequent := _most_frequent(report.confusion.tolist(), labels):
            reporter.table("most frequent confusions", ("true", "predicted", "texts"), frequent)
        return
    confusion = [(label, *counts) for label, counts in zip(labels, report.confusion.tolist(), strict=True)]
    reporter.table("confusion (rows: true, columns: predicted)", ("", *labels), confusion)
