"""Reads the cells of a table of predictions: the predicted label, the probabilities and the confidence of each text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.prediction_columns import NO_LABEL
from nlptx.corpus.document import Document, normalize_label
from nlptx.errors import DataError

PROBABILITY_PREFIX = "prob_"
_NO_ANSWER = ("", NO_LABEL)
# The probabilities of a text may sum to a value this far from 1. Larger differences are accepted only if rounding can
# explain them.
_TOLERANCE = 0.01
_MAX_DECIMALS = 5
# A difference of at most this much between the sum of the probabilities and 1 is not reported.
_EXACT = 1e-5


def read_predicted(documents: Sequence[Document], column: str, separator: str | None = None) -> list[str | None]:
    """Return the contents of the column with the predicted labels, with None for an empty cell and for ``?``.

    Args:
        documents: the rows of the table.
        column: name of the column.
        separator: string between the labels of a text; a JSON list of labels is joined with it. None if each text has
            one label; a list is then an error.

    Raises:
        DataError: a cell does not contain a label.
    """
    return [_cell((document.fields or {}).get(column), column, document.where, separator) for document in documents]


def is_answered(document: Document, column: str) -> bool:
    """Return whether a row of a multi-label table has an answer in the column with the predicted labels.

    ``?``, alone or in a list, means no answer. In JSON lines, null (which ``nlptx predict`` writes) or a missing value
    also means no answer. An empty list in JSON lines, or an empty cell in another format, means that no label is
    predicted.
    """
    value = (document.fields or {}).get(column)
    if value is None and document.format == "jsonl":
        return False
    return all(str(each).strip() != NO_LABEL for each in (value if isinstance(value, list) else [value]))


def _cell(value: Any, column: str, where: str, separator: str | None) -> str | None:
    if not isinstance(value, list) or separator is None:
        return _label(value, column, where)
    labels = [_label(each, column, where) or "" for each in value]
    if wrong := next((label for label in labels if separator in label), None):
        raise DataError(f"the label {wrong!r} contains the separator {separator!r}", where=where)
    return separator.join(labels) or None


def _label(value: Any, column: str, where: str) -> str | None:
    if isinstance(value, dict | list):
        hint = "If a text can have several labels, set `label_separator`." if isinstance(value, list) else ""
        raise DataError(f"column {column!r} contains {value!r}; expected a label", where=where, hint=hint)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(float(value)).removesuffix(".0") if isinstance(value, float) else normalize_label(str(value))
    return None if text in _NO_ANSWER else text


def read_probabilities(
    documents: Sequence[Document], columns: Sequence[str], sums_to_one: bool, on_note: Callable[[str], None]
) -> NDArray[np.float64]:
    """Return the probabilities in the given columns, (texts, columns) float64.

    Args:
        documents: the rows of the table.
        columns: names of the columns.
        sums_to_one: whether the probabilities of a text must sum to 1. If the sum differs slightly from 1, for example
            because of rounding, the probabilities are divided by the sum.
        on_note: called with a note about such texts.

    Raises:
        DataError: a cell is not a probability, or the probabilities of a text do not sum to 1.
    """
    result = np.array([[read_probability(document, name) for name in columns] for document in documents])
    if not sums_to_one:
        return result
    sums = result.sum(axis=1)
    off = np.abs(sums - 1)
    if (wrong := np.flatnonzero((off > _rounding_errors(result)) | (sums == 0))).size:
        row = int(wrong[0])
        raise DataError(
            f"the probabilities sum to {sums[row]:.4g}; expected 1",
            where=documents[row].where,
            hint=f"Add one column {PROBABILITY_PREFIX}LABEL for each label, with probabilities rather than scores;"
            " or, if a text can have several labels, set `label_separator`.",
        )
    if changed := int((off > _EXACT).sum()):
        texts = f"{changed:,} text{'s' * (changed > 1)}"
        on_note(
            f"{documents[0].source}: because of rounding, the probabilities of {texts} do not sum to 1"
            f" (the difference is at most {off.max():.2g}); they are divided by their sum"
        )
    return result / sums[:, None]


def _rounding_errors(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest difference from 1 that is accepted for the sum of each row of (texts, columns), (texts,).

    A probability with d decimals was rounded by at most half of 10^-d. Probabilities with more than _MAX_DECIMALS
    decimals are considered exact, and those with one decimal could have had two.
    """
    errors = np.zeros_like(probabilities)
    for decimals in range(_MAX_DECIMALS, 1, -1):
        errors[np.abs(probabilities - probabilities.round(decimals)) < 1e-9] = 0.5 * 10.0**-decimals
    return np.maximum(errors.sum(axis=1), _TOLERANCE) + 1e-9


def read_label_probabilities(
    documents: Sequence[Document],
    columns: Sequence[str],
    labels: Sequence[str],
    names: Sequence[str],
    sums_to_one: bool,
    on_note: Callable[[str], None],
) -> NDArray[np.float64] | None:
    """Return the probabilities of C labels, (texts, C) float64; None if ``columns`` is empty.

    If the label map gives several columns the same label, the probabilities in these columns are added up. A label
    without a column gets the probability 0, and a note lists such labels.

    Args:
        documents: the rows of the table.
        columns: names of the columns.
        labels: for each column, the label whose probability it contains.
        names: the C labels.
        sums_to_one: whether the probabilities of a text must sum to 1; False for multi-label data.
        on_note: called with notes about rounded probabilities and about labels without a column.

    Raises:
        DataError: in the same cases as :func:`read_probabilities`, and if two columns of multi-label data have the same
            label.
    """
    if not columns:
        return None
    if not sums_to_one and len(set(labels)) < len(labels):
        repeated = next(label for label in labels if labels.count(label) > 1)
        first, second, *_ = (column for column, label in zip(columns, labels, strict=True) if label == repeated)
        raise DataError(
            f"the columns {first} and {second} both contain the probability of the label {repeated!r}",
            where=documents[0].source,
            hint="Remove one of them, or change `label_map` so that their labels differ.",
        )
    result = np.zeros((len(documents), len(names)))
    for label, p in zip(labels, read_probabilities(documents, columns, sums_to_one, on_note).T, strict=True):
        result[:, names.index(label)] += p
    if missing := [label for label in names if label not in labels]:
        on_note(
            f"{documents[0].source}: there is no column with the probability of {', '.join(missing)};"
            " such a label gets the probability 0; if it is another name of a label, map it with `label_map=OLD=NEW`"
        )
    return result


def read_probability(document: Document, column: str) -> float:
    """Return the probability in the given column of a row.

    Raises:
        DataError: the cell does not contain a number from 0 to 1.
    """
    value = (document.fields or {}).get(column)
    try:
        number = math.nan if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not -_EXACT <= number <= 1 + _EXACT:
        missing = value is None or value == ""
        raise DataError(
            f"column {column!r} {'is empty' if missing else f'contains {value!r}'}; expected a probability from 0 to 1",
            where=document.where,
            hint="Add a probability for every text, or leave the column out." if missing else "",
        )
    return min(max(number, 0.0), 1.0)
