"""Writes the out-of-fold predictions of ``nlptx crossvalidate`` to a table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nlptx.classifier.prediction_columns import free_names
from nlptx.cli.options.prediction_format import format_of_table
from nlptx.cli.results.table_writer import as_cells, open_table

if TYPE_CHECKING:
    from nlptx.corpus.document import Document
    from nlptx.experiments.crossvalidation import CrossValidation
    from nlptx.experiments.fold import FoldResult


def write_predictions(path: str, result: CrossValidation, documents: list[Document]) -> dict[str, str]:
    """Write a table: for each seed, one row per text, in the order of the input.

    A row has the columns of the input, followed by these columns: predicted, confidence, prob_<label>, fold and seed.
    If a text does not come from a table, its input columns are file, text and label.

    Returns:
        name -> new name, for each added column that was renamed because an input column has the same name.
    """
    output_format = format_of_table(path)
    inputs = [_columns(document) for document in documents]
    if output_format != "jsonl":
        inputs = [as_cells(columns, result.experiment.separator) for columns in inputs]
    taken = dict.fromkeys(name for columns in inputs for name in columns)
    probabilities = [f"prob_{name}" for name in result.experiment.label_names]
    names = ("predicted", "confidence", *probabilities, "fold", "seed")
    added = dict(zip(names, free_names(names, tuple(taken)), strict=True))
    with open_table(path, output_format, [*taken, *added.values()]) as table:
        for seed in dict.fromkeys(fold.seed for fold in result.results):
            rows: dict[int, dict[str, Any]] = {}
            for fold in result.results:
                if fold.seed == seed:
                    rows |= dict(_rows(fold, result, output_format))
            for number, columns in enumerate(inputs):
                table.write({**columns, **{added[name]: value for name, value in rows[number].items()}})
    return {name: new_name for name, new_name in added.items() if new_name != name}


def _rows(fold: FoldResult, result: CrossValidation, output_format: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the index and the new columns of each text of a fold."""
    from nlptx.cli.results.prediction_writer import DIGITS, round_distribution, round_each

    names, separator = result.experiment.label_names, result.experiment.separator
    columns = (fold.rows, fold.predicted, fold.confidence, fold.probabilities)
    for row, predicted, confidence, probabilities in zip(*(column.tolist() for column in columns), strict=True):
        label: Any
        if separator is None:
            label, rounded = names[predicted], round_distribution(probabilities)
            confidence = rounded[predicted]
        else:
            chosen = [name for name, has in zip(names, predicted, strict=True) if has]
            label = chosen if output_format == "jsonl" else separator.join(chosen)
            rounded, confidence = round_each(probabilities), round(confidence, DIGITS)
        yield (
            row,
            {
                "predicted": label,
                "confidence": confidence,
                **{f"prob_{name}": p for name, p in zip(names, rounded, strict=True)},
                "fold": fold.fold + 1,
                "seed": fold.seed,
            },
        )


def _columns(document: Document) -> dict[str, Any]:
    """Return the input columns of a text."""
    if document.fields is not None:
        return dict(document.fields)
    return {"file": os.fspath(document.source), "text": document.text, "label": document.label}
