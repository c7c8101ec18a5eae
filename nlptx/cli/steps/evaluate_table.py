"""``nlptx evaluate`` for a table with the predictions of any program."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from nlptx.cli.options.abstention import draw_coverage
from nlptx.cli.options.page import this_command
from nlptx.cli.options.precedence import is_default
from nlptx.cli.options.shared import CommonOptions
from nlptx.cli.results.evaluation_report import as_json, draw_groups, draw_report, groups_as_json
from nlptx.cli.steps.quality_gate import check_accuracy
from nlptx.cli.terminal.reporter import print_json
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError

if TYPE_CHECKING:
    from nlptx.evaluation.labelled_predictions import LabelledPredictions


def is_table(path: str) -> bool:
    """Return whether a file contains a table rather than a model."""
    if not os.path.isfile(path):
        return False
    from nlptx.evaluation.file_kind import is_table

    return is_table(path)


def _has_numeric_order(predictions: LabelledPredictions) -> bool:
    """Return whether the labels are three or more ordered numbers, so that some errors are larger than others."""
    from nlptx.classifier.label_types import as_number

    names = predictions.label_names
    return predictions.is_ordered and len(names) > 2 and as_number(names[0]) is not None


def evaluate_table(
    data: tuple[str, ...],
    path: str,
    min_accuracy: float | None,
    plot: str | None,
    by: tuple[str, ...],
    label_order: str,
    page: str | None,
    reading: ReadOptions,
    common: CommonOptions,
) -> None:
    """Evaluate a table of predictions, and print the report.

    Args:
        data: inputs with the labelled texts; empty if the table contains the true labels.
        path: path of the table.
        min_accuracy: minimum accuracy, or None.
        plot: file for a plot of calibration and coverage, or None. The plot needs confidences.
        by: columns whose values divide the texts into groups.
        label_order: "none" if numeric labels are names without an order, otherwise "auto".
        page: name of the HTML page to write, or None.
        reading: options for reading the table and the data.
        common: options shared by all commands.

    Raises:
        click.UsageError: ``plot`` is set, but the table contains no confidences.
        QualityGateError: the accuracy is below ``min_accuracy``.
    """
    from nlptx.corpus.corpus import digest
    from nlptx.evaluation.coverage import CoverageCurve
    from nlptx.evaluation.dependent_rows import with_dependent_rows
    from nlptx.evaluation.groups import accuracy_by_group, column_values
    from nlptx.evaluation.labelled_data import read_labelled
    from nlptx.evaluation.labelled_predictions import evaluate_predictions
    from nlptx.evaluation.prediction_file import read_predictions
    from nlptx.evaluation.seeds import seeds_note, texts_of_seeds

    labelled = read_labelled(data, reading, common.reporter.note, check_map=False) if data else None
    predictions = read_predictions(path, reading, common.reporter.note, labelled)
    if label_order == "none":
        predictions = replace(predictions, is_ordered=False)
    elif is_default("label_order") and _has_numeric_order(predictions):
        common.reporter.note(
            f"{path}: numeric labels are treated as ordered; if they are names, use --label-order none"
        )
    notes = []
    if (texts := texts_of_seeds(predictions.documents)) is not None:
        others = "; all other intervals do not" if by or page is not None else ""
        notes.append(seeds_note(texts, f"the interval of the accuracy takes this into account{others}"))
        common.reporter.note(notes[0])
    if plot is not None:
        from nlptx.plots import check_picture_path

        if predictions.confidence is None:
            raise click.UsageError("--plot needs a table with the columns 'prob_LABEL' or 'confidence'.")
        if not len(predictions.only_answered):
            raise DataError("no text has a prediction, so there is nothing to plot", where=path)
        check_picture_path(plot)
    report = evaluate_predictions(predictions)
    if texts is not None:
        report = with_dependent_rows(report, predictions, texts)
    curve = None if predictions.confidence is None else CoverageCurve.of(predictions.confidence, predictions.correct)
    groups = {
        column: accuracy_by_group(column_values(column, predictions.documents), predictions.correct) for column in by
    }
    inputs = list(data) or [path]
    subject = {"model": path, "data": inputs, "seed": None}
    if common.json:
        points = None if curve is None else [point._asdict() for point in curve.table()]
        print_json(
            subject
            | as_json(report)
            | groups_as_json(groups)
            | {
                "unanswered_texts": predictions.unanswered,
                "coverage_curve": points,
                "aurc": curve.aurc if curve else None,
            }
        )
    else:
        draw_report(subject, report, 0, common.reporter)
        draw_groups(groups, common.reporter)
        if curve is not None:
            draw_coverage(curve, common.reporter)
    answered = predictions.only_answered
    if plot is not None and curve is not None and answered.confidence is not None:
        from nlptx.plots import plot_evaluation

        plot_evaluation(curve, answered.confidence, answered.correct, plot)
    if page is not None:
        from nlptx.report.evaluation_page import Evaluation, write_evaluation_page

        sha256 = digest(predictions.documents) if labelled is None else labelled.sha256
        command = this_command()
        evaluation = Evaluation(
            predictions,
            report,
            inputs,
            sha256,
            groups=groups,
            command=command,
            notes=notes,
        )
        write_evaluation_page(page, evaluation)
        common.reporter.note(f"report -> {page}")
    check_accuracy(report.accuracy, min_accuracy)
