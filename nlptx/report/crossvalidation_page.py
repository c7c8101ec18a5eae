"""The page of ``nlptx crossvalidate --report``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nlptx.corpus.corpus import digest
from nlptx.corpus.document import Document
from nlptx.evaluation.label_set_report import LabelSetReport
from nlptx.evaluation.labelled_predictions import LabelledPredictions, evaluate_predictions
from nlptx.experiments.crossvalidation import CrossValidation
from nlptx.experiments.fold import FoldResult
from nlptx.io.paths import FilePath
from nlptx.metrics import Report, calibration_noise_floor
from nlptx.report.evaluation_page import Evaluation, evaluation_context, main_figures
from nlptx.report.page import write_page
from nlptx.training.labels import order_labels

_KIND = "nlptx cross-validation report"
# Measures whose mean over all folds is shown. The keys are the names of the measures on the page of a single
# evaluation.
_MEANS = {"accuracy": "accuracy", "all labels right": "accuracy", "macro-F1": "macro_f1", "log-loss": "log_loss"}
# Measures that are computed from the predictions of all seeds together, as in ``nlptx compare``.
_POOLED = ("micro-F1", "calibration error")


@dataclass(frozen=True)
class Folds:
    """The table of all fold results, and a summary with mean, standard deviation and interval."""

    results: Sequence[FoldResult]
    several_seeds: bool
    summary: list[tuple[str, list[str]]]


def write_crossvalidation_page(
    path: FilePath,
    result: CrossValidation,
    documents: Sequence[Document],
    data: Sequence[str],
    command: str = "",
) -> None:
    """Write the report of a cross-validation as one HTML file.

    Args:
        path: file to write; its name ends in .html or .htm.
        result: results of all folds. With several seeds, everything except the main figures and the results of the
            folds shows the predictions of the first seed.
        documents: the texts of the experiment.
        data: paths of the labelled data.
        command: command that makes the page; not shown if empty.

    Raises:
        SettingsError, NlptxError, OutputError: as for :func:`nlptx.report.page.write_page`.
    """
    seeds = list(dict.fromkeys(fold.seed for fold in result.results))
    predictions, *others = [out_of_fold(result, documents, seed) for seed in seeds]
    all_seeds = f"There are {len(seeds)} seeds. The main figures and the results of the folds include all seeds."
    notes = [f"{all_seeds} Everything else shows the predictions of the first seed."] * (len(seeds) > 1)
    report = evaluate_predictions(predictions)
    evaluation = Evaluation(predictions, report, data, digest(documents), notes=notes, command=command)
    context = evaluation_context(evaluation)
    context["folds"] = _folds(result)
    spread = result.spread()
    pooled = main_figures(_report_of_all(predictions, others)) if others else context["figures"]
    for figure, of_all in zip(context["figures"], pooled, strict=True):
        if (name := _MEANS.get(figure["name"])) is not None:
            each, title = spread[name], "accuracy" if name == "accuracy" else figure["name"]
            interval = f"95% interval {_shown(name, each.low)} to {_shown(name, each.high)}"
            figure |= {"name": f"mean {title}", "value": _shown(name, each.mean), "note": interval}
        elif figure["name"] in _POOLED and others:
            figure |= {"value": of_all["value"], "note": f"from the predictions of all seeds; {of_all['note']}"}
    context |= {
        "kind": _KIND,
        "title": f"{', '.join(data)}: {_KIND}",
        "about": [("data", ", ".join(data)), ("texts", f"{len(documents):,}"), ("folds", result.experiment.folds)],
        "heading": f"Mean accuracy of the folds: {_shown('accuracy', spread['accuracy'].mean)}",
        "sections": [("folds", "Folds"), *context["sections"]],
    }
    write_page(path, "evaluate.html", **context)


def out_of_fold(result: CrossValidation, documents: Sequence[Document], seed: int) -> LabelledPredictions:
    """Return the prediction for each text, made by the model that was trained with this seed and without the text."""
    experiment = result.experiment
    folds = [fold for fold in result.results if fold.seed == seed]
    order = np.argsort(np.concatenate([fold.rows for fold in folds]))
    return LabelledPredictions(
        source="models trained without the text",
        label_names=experiment.label_names,
        is_ordered=order_labels(experiment.label_names)[1] is not None,
        documents=list(documents),
        targets=experiment.targets,
        predicted=np.concatenate([fold.predicted for fold in folds])[order],
        probabilities=np.concatenate([fold.probabilities for fold in folds])[order],
        confidence=np.concatenate([fold.confidence for fold in folds])[order],
    )


def _report_of_all(first: LabelledPredictions, others: Sequence[LabelledPredictions]) -> Report | LabelSetReport:
    """Return measures of the predictions of all seeds together."""
    parts = [first, *others]
    confidence = np.concatenate([part.confidence for part in parts])
    together = replace(
        first,
        documents=[document for part in parts for document in part.documents],
        targets=np.concatenate([part.targets for part in parts]),
        predicted=np.concatenate([part.predicted for part in parts]),
        probabilities=np.concatenate([part.probabilities for part in parts]),
        confidence=confidence,
    )
    texts = [document.text for document in together.documents]
    floor = calibration_noise_floor(confidence, repeats=len(texts) / len(set(texts)) if others else 1)
    return replace(evaluate_predictions(together), ece_floor=floor)


def _folds(result: CrossValidation) -> Folds:
    measures = result.spread().items()
    intervals = [f"{_shown(name, each.low)} \u2013 {_shown(name, each.high)}" for name, each in measures]
    rows: list[tuple[str, list[Any]]] = [
        ("mean", [_shown(name, each.mean) for name, each in measures]),
        ("standard deviation", [_shown(name, each.std) for name, each in measures]),
        ("95% interval of the mean", intervals),
    ]
    return Folds(result.results, len({fold.seed for fold in result.results}) > 1, rows)


def _shown(name: str, value: float) -> str:
    return f"{100 * value:.1f}%" if name in ("accuracy", "ece") else f"{value:.4f}"
