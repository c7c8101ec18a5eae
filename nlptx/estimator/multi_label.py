"""Multi-label data in the two forms that ``TextClassifier`` accepts and returns.

One form is a list, tuple or set of labels for each text. The other form is scikit-learn's indicator matrix, (texts, C),
which contains 1 where a text has a label and 0 elsewhere; the column numbers are the labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import check_iterable
from nlptx.arguments.values import is_missing
from nlptx.classifier.decision import MultiLabelDecision
from nlptx.classifier.label_sets import DEFAULT_SEPARATOR, list_label_sets
from nlptx.errors import InputTypeError, LabelError
from nlptx.nn.activations import logit

# Separators for the labels of a text in tables, in order of preference.
_SEPARATORS = (DEFAULT_SEPARATOR, "|", ",", "/", "+", "#")
# Probabilities below this value are replaced by it, so that their logarithms are finite.
MIN_PROBABILITY = np.finfo(np.float64).tiny
# Value that ``decision_function`` returns for a label that the model never predicts.
MIN_DECISION_VALUE = float(np.log(MIN_PROBABILITY))


def is_indicator(y: Any) -> bool:
    """Return whether ``y`` is a matrix of at least two columns: an array, sparse matrix, DataFrame or list of rows."""
    if isinstance(y, list | tuple):
        return len(y) > 0 and all(_is_row(row) and len(row) == len(y[0]) > 1 for row in y)
    return getattr(y, "ndim", 1) == 2 and y.shape[1] > 1


def _is_row(row: Any) -> bool:
    """Return whether an element of a list is a row of numbers rather than a collection of labels."""
    is_sequence = isinstance(row, list | tuple | np.ndarray)
    return is_sequence and all(isinstance(value, int | float | np.number | np.bool_) for value in row)


def indicator_array(y: Any, name: str) -> NDArray[np.int64]:
    """Return an indicator matrix as an array (texts, C). Raise InputTypeError for elements other than 0 and 1."""
    matrix = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    # Elements of an array of objects may be missing, and a missing value cannot be compared with a number.
    is_complete = matrix.dtype != object or not any(map(is_missing, matrix.flat))
    if not is_complete or not np.isin(matrix, (0, 1)).all():
        raise InputTypeError(f"`{name}` is a matrix with elements other than 0 and 1; expected an indicator matrix")
    return matrix.astype(np.int64)


def indicated_labels(matrix: NDArray[np.int64], classes: Sequence[Any]) -> list[tuple[str, ...]]:
    """Return the labels of each text as strings, given an indicator matrix (texts, C) and the C labels of its columns.

    >>> indicated_labels(np.array([[1, 0, 1], [0, 0, 0]]), [0, 1, 2])
    [('0', '2'), ()]
    """
    names = [str(label) for label in classes]
    return [tuple(names[column] for column in np.flatnonzero(row)) for row in matrix]


def choose_separator(sets: Iterable[Any]) -> str:
    """Return the first separator that no label contains: a single character, or ``;|``, ``;||`` and so on.

    A separator such as ``;||`` contains ``;`` only at its start, so splitting a cell finds the separator only where it
    was inserted, even after a label that ends in ``;|``. The split therefore always restores the labels.
    """
    labels = [label for label in chain.from_iterable(sets) if isinstance(label, str)]
    separators = chain(_SEPARATORS, (f";{'|' * number}" for number in count(1)))
    return next(each for each in separators if not any(each in label for label in labels))


def list_sets(y: Iterable[Any], separator: str, name: str, classes: Sequence[Any]) -> list[tuple[str, ...]]:
    """Return the labels of each text, read from an indicator matrix or from a list of labels for each text.

    Args:
        y: the matrix, or the labels of each text.
        separator: string between the labels of a text in tables.
        name: name of the argument, for messages.
        classes: the C labels of the columns of a matrix.

    Raises:
        InputTypeError, LabelError: the matrix or a label is invalid, or the matrix does not have C columns.
    """
    if is_indicator(y):
        matrix = indicator_array(y, name)
        if matrix.shape[1] != len(classes):
            raise LabelError(
                f"`{name}` is a matrix with {matrix.shape[1]:,} columns; expected one for each of the"
                f" {len(classes):,} labels"
            )
        return indicated_labels(matrix, classes)
    return list_label_sets(check_iterable(y, name, "lists of labels"), separator, name)


def decision_values(decision: MultiLabelDecision, p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-odds of the probabilities (texts, C), minus the log-odds of the thresholds.

    A label is predicted if this difference is at least 0.
    """
    return logit(p) - logit(decision.thresholds)


def reorder_columns(values: NDArray, model_labels: Sequence[Any], classes: Sequence[Any], fill: float) -> NDArray:
    """Reorder columns from the order of the model labels to the order of ``classes``.

    Args:
        values: (texts, M) one column for each of the M model labels.
        model_labels: the M labels of the model.
        classes: the C labels, in the order of the result's columns.
        fill: value for labels that the model does not have, because no training text has them.
    """
    column = {label: number for number, label in enumerate(model_labels)}
    result = np.full((len(values), len(classes)), fill, values.dtype)
    for number, label in enumerate(map(str, classes)):
        if label in column:
            result[:, number] = values[:, column[label]]
    return result
