"""``nlptx evaluate``."""

from __future__ import annotations

import math
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.inputs import check_names, inputs_or_stdin
from nlptx.cli.options import Run, reading_options, run_options
from nlptx.cli.predict import model_option
from nlptx.cli.reporter import Reporter, print_json
from nlptx.cli.stage_run import peak_memory
from nlptx.corpus.document import ReadOptions
from nlptx.errors import DataError, LabelError, QualityGateError

if TYPE_CHECKING:
    from nlptx.metrics import Report

# Labels up to which the table of confusions is drawn, and confusions named where there are more.
_LARGEST_SHOWN, _SHOWN = 12, 10


@click.command()
@click.argument("data", nargs=-1, metavar="DATA...")
@model_option
@click.option("--min-accuracy", type=click.FloatRange(0, 1), help="Exit with code 5 below this accuracy.")
@reading_options(("test",))
@run_options(json_help="Print the report as one JSON object.")
def evaluate(
    data: tuple[str, ...], model: str | None, min_accuracy: float | None, reading: ReadOptions, run: Run
) -> None:
    """Compare predictions with true labels.

    \b
    nlptx evaluate -m model.npz test.tsv
    nlptx evaluate -m model.npz aclImdb.tar.gz --json --min-accuracy 0.9

    The report has accuracy with its 95 % interval, balanced accuracy (mean recall of the labels), macro-F1,
    ROC-AUC, log-loss, calibration error (ECE), precision, recall and F1 of each label, and the confusion matrix.
    Beside the calibration error stands what a perfectly calibrated model would show by chance on as many texts.
    """
    data = inputs_or_stdin(data)
    check_names(*data, model)
    if min_accuracy is not None and math.isnan(min_accuracy):
        raise click.BadParameter("nan is not a share.", param_hint="--min-accuracy")
    started = time.perf_counter()
    import numpy as np

    from nlptx.classifier.model import Model
    from nlptx.corpus.corpus import Corpus, labelled
    from nlptx.metrics import evaluate as judge
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers

    keep_freed_memory()
    classifier = Model.load(model)
    places = {label: place for place, label in enumerate(classifier.label_names)}
    texts, targets = [], []
    for document in labelled(Corpus(data, reading), reading.label_column):
        label = document.label or ""
        if label not in places:
            raise LabelError(
                f"label {label!r} is not one of the model's: {', '.join(classifier.label_names)}",
                where=document.where,
                hint="Evaluate on data with the labels of the training data.",
            )
        texts.append(document.text)
        targets.append(places[label])
    if not texts:
        raise DataError("there is nothing to evaluate: no text was found")
    probabilities = classifier.predict_proba(texts, Workers(run.jobs, processes=True))
    predicted = classifier.choose(probabilities)
    ordered = classifier.values is not None
    report = judge(probabilities, np.array(targets), classifier.label_names, ordered, predicted)
    if run.json:
        print_json(
            {**_as_json(report), "seconds": round(time.perf_counter() - started, 3), "peak_memory_mb": peak_memory()}
        )
    else:
        _draw(report, run.talk)
    if min_accuracy is not None and report.accuracy < min_accuracy:
        raise QualityGateError(f"accuracy is {report.accuracy:.4f}; --min-accuracy asks for {min_accuracy:g}")


def _as_json(report: Report) -> dict[str, Any]:
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
    """Return (true label, predicted label, texts) of the most frequent errors."""
    wrong = [
        (labels[true], labels[predicted], count)
        for true, row in enumerate(confusion)
        for predicted, count in enumerate(row)
        if count and true != predicted
    ]
    return sorted(wrong, key=lambda row: -row[2])[:_SHOWN]


def _draw(report: Report, talk: Reporter) -> None:
    (low, high), floor = report.interval, report.ece_floor
    by_chance = f"by chance alone {floor.mean:.2%}, 95 % below {floor.percentile_95:.2%}"
    facts: list[tuple[str, Any]] = [
        ("texts", report.texts),
        ("accuracy", f"{report.accuracy:.2%}  (95 % interval {low:.2%} to {high:.2%})"),
        ("majority baseline", f"{report.majority:.2%}"),
        ("balanced accuracy", f"{report.balanced_accuracy:.2%}"),
        ("macro-F1", f"{report.macro_f1:.4f}"),
        ("ROC-AUC", f"{report.auc:.4f}"),
        ("log-loss", f"{report.log_loss:.4f}"),
        ("calibration error", f"{report.ece:.2%}  ({by_chance})"),
    ]
    if report.mean_absolute_error is not None and len(report.classes) > 2:
        facts.append(("mean absolute error", f"{report.mean_absolute_error:.4f} steps"))
    talk.facts("evaluation", facts)
    rows = [
        (row.label, f"{row.precision:.4f}", f"{row.recall:.4f}", f"{row.f1:.4f}", row.texts) for row in report.classes
    ]
    talk.table("by label", ("label", "precision", "recall", "F1", "texts"), rows)
    labels = [row.label for row in report.classes]
    if len(labels) > _LARGEST_SHOWN:
        talk.table(
            "most frequent confusions",
            ("true", "predicted", "texts"),
            _most_frequent(report.confusion.tolist(), labels),
        )
        return
    confusion = [(label, *counts) for label, counts in zip(labels, report.confusion.tolist(), strict=True)]
    talk.table("confusion (rows: true, columns: predicted)", ("", *labels), confusion)
