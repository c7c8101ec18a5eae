"""Checks and encodes the label sets of texts in multi-label classification."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import SEVERAL_LABELS_HINT, UNLABELLED_HINT, check_iterable
from nlptx.arguments.values import is_missing, with_type
from nlptx.errors import InputTypeError, LabelError

# Default separator between the labels of a text in a table.
DEFAULT_SEPARATOR = ";"
# Maximum number of labels listed in an error message.
_NAMED = 20
# The labels of a text.
LabelSet = list[str] | tuple[str, ...] | set[str] | frozenset[str]
_SETS = (list, tuple, set, frozenset)


def are_label_sets(labels: Any) -> bool:
    """Return whether the first element of a sequence is a collection of labels instead of a single label."""
    return len(labels) > 0 and isinstance(labels[0], _SETS)


def list_label_sets(labels: Iterable[Any], separator: str, name: str = "labels") -> list[tuple[str, ...]]:
    """Check the labels of each text, and return them sorted and without duplicates.

    Args:
        labels: a list, tuple, set or frozenset of str for each text; empty for a text with none of the labels.
        separator: string between labels in a table. No label may contain the separator.
        name: name by which error messages refer to ``labels``.

    Raises:
        InputTypeError: an element is not a list, tuple, set or frozenset, or a label is not a str.
        LabelError: a label is empty, contains the separator, or contains white space other than single spaces between
            words.

    >>> list_label_sets([["b", "a", "b"], set()], ";")
    [('a', 'b'), ()]
    """
    return [
        _checked(element, separator, f"{name}[{position}]")
        for position, element in enumerate(check_iterable(labels, name, "lists of labels"))
    ]


def _checked(element: Any, separator: str, name: str) -> tuple[str, ...]:
    if not isinstance(element, _SETS):
        raise InputTypeError(
            f"`{name}` is {with_type(element)}; expected a list, tuple or set of labels",
            hint=UNLABELLED_HINT
            if is_missing(element)
            else "Put a single label into a list; use an empty list for a text with none of the labels.",
        )
    for label in element:
        if not isinstance(label, str):
            raise InputTypeError(
                f"`{name}` contains {with_type(label)}; expected labels of type str", hint=SEVERAL_LABELS_HINT
            )
        if not label or label != " ".join(label.split()):
            raise LabelError(f"`{name}` contains {label!r}; expected a non-empty label without extra white space")
        if separator in label:
            raise LabelError(
                f"`{name}` contains {label!r}, but {separator!r} separates the labels of a text",
                hint="Set `label_separator` to a string that no label contains.",
            )
    return tuple(sorted(set(element)))


def find_label_sets(sets: Sequence[tuple[str, ...]], known: Sequence[Any]) -> NDArray[np.bool_]:
    """Return a (texts, C) bool array. Column c is True for the texts that have the label ``known[c]``.

    Raises:
        LabelError: a label is not in ``known``.

    >>> find_label_sets([("b",), ()], ["a", "b"])
    array([[False,  True],
           [False, False]])
    """
    columns = {label: column for column, label in enumerate(known)}
    result = np.zeros((len(sets), len(known)), bool)
    for row, labels in enumerate(sets):
        for label in labels:
            if label not in columns:
                more = ", ..." if len(known) > _NAMED else ""
                named = ", ".join(map(repr, known[:_NAMED]))
                raise LabelError(f"`labels[{row}]` contains {label!r}; expected labels among {named}{more}")
            result[row, columns[label]] = True
    return result
