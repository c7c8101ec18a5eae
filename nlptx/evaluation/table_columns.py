"""Finds the columns of a table of predictions, and reads the predicted labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.corpus.columns import matching_columns
from nlptx.corpus.document import Document, normalize_label
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError
from nlptx.evaluation.prediction_cells import PROBABILITY_PREFIX, is_answered, read_predicted

# Possible names of the column with the predicted label. nlptx crossvalidate uses the first name, and nlptx predict uses
# the second if the table already has a column "label" (otherwise, it uses "label"); other programs may use the third.
_PREDICTED = ("predicted", "predicted_label", "prediction")
# The column in which nlptx predict stores the predicted labels if the table has no column with this name.
_LABEL = "label"
# If a table already has a column with the name of a new column, nlptx adds this prefix to the new name, repeatedly if
# necessary.
_REPEATED = "predicted_"


def find_column(documents: Sequence[Document], *names: str) -> str | None:
    """Return the first of these column names that the table has, spelled as in the table; None if it has none."""
    fields = column_names(documents)
    return next((matches[0] for name in names if (matches := matching_columns(name, fields))), None)


def column_names(documents: Sequence[Document]) -> list[str]:
    """Return the names of all columns. All rows are read, because in JSON lines, rows may have different columns."""
    return list(dict.fromkeys(name for document in documents for name in document.fields or ()))


def predicted_column(documents: Sequence[Document], label_column: str, labels_known: bool) -> str | None:
    """Return the name of the column with the predicted labels, or None if there is none.

    ``nlptx predict`` writes the predicted labels to a column ``label`` if the table has no column with this name.
    Therefore, a column ``label`` is assumed to contain predictions if ``label_column`` is another column and the table
    also has a column ``confidence`` or columns ``prob_LABEL``. If ``label_column`` is ``label``, the column is assumed
    to contain predictions only if there is a column ``confidence`` and the true labels are known from another file.

    Args:
        documents: the rows of the table.
        label_column: name of the column with the true labels.
        labels_known: whether the true labels are known from another file.
    """
    if (named := named_predictions(documents, label_column)) is not None:
        return named
    column = find_column(documents, _LABEL)
    has_confidence = newest_column(documents, "confidence") is not None
    if matching_columns(_LABEL, [label_column]):
        is_predicted = labels_known and has_confidence
    else:
        is_predicted = has_confidence or bool(probability_columns(documents))
    return column if is_predicted else None


def named_predictions(documents: Sequence[Document], label_column: str) -> str | None:
    """Return the newest column with a name in _PREDICTED, ignoring the label column; None if there is none."""
    columns = [(len(name.strip()) - len(base), name) for base in _PREDICTED if (name := newest_column(documents, base))]
    columns = [each for each in columns if not matching_columns(label_column, [each[1]])]
    return max(columns, key=lambda each: each[0])[1] if columns else None


def newest_column(documents: Sequence[Document], name: str) -> str | None:
    """Return the column whose name is ``name``, with any number of prefixes ``predicted_``; None if there is none.

    If there are several such columns, the one with the longest name is returned, because it was added last: nlptx adds
    a prefix to the name of a new column if the table already has a column with this name.
    """
    fields = {field.strip().casefold(): field for field in column_names(documents)}
    matches = [field for field in fields if re.fullmatch(f"({_REPEATED})*{re.escape(name)}", field)]
    return fields[max(matches, key=len)] if matches else None


def probability_columns(documents: Sequence[Document]) -> dict[str, str]:
    """Return the columns with probabilities, as a dictionary from label to column name."""
    pattern = re.compile(f"({_REPEATED})*{PROBABILITY_PREFIX}(.*)", re.IGNORECASE | re.DOTALL)
    matches = [(match, name) for name in column_names(documents) if (match := pattern.fullmatch(name.strip()))]
    # If a label has several columns, the one with the longest name is used, because it was written last.
    return {normalize_label(match[2]): name for match, name in sorted(matches, key=lambda each: each[0].start(2))}


@dataclass(frozen=True)
class PredictionCells:
    """Predicted labels and probability columns of a table of predictions, before the label map is applied.

    Args:
        predicted: contents of the column with the predicted labels, with None for rows without an answer; None if the
            table has no such column.
        answered: (rows,) whether each row has an answer (see :func:`.is_answered`); needed only for multi-label data.
        probability_columns: label -> name of the column with its probability.
    """

    predicted: list[str | None] | None
    answered: NDArray[np.bool_]
    probability_columns: dict[str, str]


def read_cells(
    path: str,
    documents: Sequence[Document],
    reading: ReadOptions,
    labels_known: bool,
    needs_labels: bool,
    on_note: Callable[[str], None],
) -> PredictionCells:
    """Read the predicted labels of a table, and find its columns of probabilities.

    Args:
        path: path of the table, for messages.
        documents: the rows of the table.
        reading: reading options, which contain the name of the column with the true labels and the label separator.
        labels_known: whether the true labels are known from another file. If so, and if the table has neither predicted
            labels nor probabilities, its label column is read as the prediction.
        needs_labels: whether a multi-label table without a column of predicted labels is an error.
        on_note: called with a note if the column ``label`` or the column of true labels is read as the prediction.

    Raises:
        DataError: the table has no predictions, or a cell does not contain a label.
    """
    column = predicted_column(documents, reading.label_column, labels_known)
    columns = probability_columns(documents)
    if column is None and labels_known and not columns:
        column = find_column(documents, reading.label_column)
    if column is not None and matching_columns(column, [_LABEL, reading.label_column]):
        on_note(f"{path}: there is no column 'predicted', so column {column!r} is read as the prediction")
    if column is None and not columns:
        names = ", ".join(column_names(documents)) or "none"
        raise DataError(
            f"there are no predictions; the columns are {names}",
            where=path,
            hint="Rename the column with the predicted label to 'predicted', or add a column prob_LABEL per label.",
        )
    if column is None and needs_labels and reading.label_separator is not None:
        raise DataError(
            "there is no column 'predicted', and probabilities alone do not determine the labels of a text, because the"
            " threshold of each label is unknown",
            where=path,
            hint="Add a column 'predicted' that contains the predicted labels of each text.",
        )
    predicted = None if column is None else read_predicted(documents, column, reading.label_separator)
    answered = np.array([column is None or is_answered(document, column) for document in documents])
    return PredictionCells(predicted, answered, columns)
