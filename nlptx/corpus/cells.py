"""Reads the label and the weight in a row of a table."""

from __future__ import annotations

import math
from typing import Any

from nlptx.corpus.document import MAX_WEIGHT, normalize_label
from nlptx.errors import DataError


class BadRowError(DataError):
    """A single row cannot be read."""


# Line number of a row, followed by its fields, or by an error if the row cannot be read.
Row = tuple[int, dict[str, Any] | BadRowError]


def is_missing(value: Any) -> bool:
    """Return whether a cell is None or NaN."""
    return value is None or (isinstance(value, float) and value != value)


def read_weight(value: Any, where: str) -> float:
    """Return the weight in a cell. Raises BadRowError unless the cell contains a number in the valid range."""
    try:
        if isinstance(value, bool):
            raise ValueError
        weight = read_number(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    if not 0 <= weight <= MAX_WEIGHT:
        missing = is_missing(value) or value == ""
        raise BadRowError(
            "the weight is missing"
            if missing
            else f"the weight is {value!r}; expected a number from 0 to {MAX_WEIGHT:g}",
            where=where,
            hint="Correct it, or leave such rows out with `skip_bad`.",
        )
    return weight


def read_number(text: str) -> float:
    """Return the number in a text. Raises ValueError, also for numbers that only Python accepts, such as 1_000."""
    if "_" in text or not text.isascii():
        raise ValueError(f"not a number: {text!r}")
    return float(text)


def read_label(value: Any, where: str, separator: str | None = None) -> str | None:
    """Return the label in a cell, or None if the cell is empty.

    Args:
        value: the cell. With a ``separator``, the cell may be a list of labels, which is returned as one string.
        where: position of the row in the input.
        separator: string between the labels of a text, or None.

    Raises:
        BadRowError: the cell contains bytes, a JSON object, a list although ``separator`` is None, or a list whose
            labels cannot be separated by ``separator``.
    """
    if isinstance(value, list) and separator is not None:
        return _joined(value, where, separator)
    if isinstance(value, dict | list | bytes):
        hint = "If a text can have several labels, set `label_separator`." if isinstance(value, list) else ""
        raise BadRowError(f"the label is {value!r}; expected a word or a number", where=where, hint=hint)
    if is_missing(value):
        return None
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")  # repr keeps all digits: rounding could make two labels equal
    if isinstance(value, bool):
        return "true" if value else "false"  # as in JSON
    return normalize_label(str(value)) or None


def _joined(values: list[Any], where: str, separator: str) -> str | None:
    """Return the labels of a JSON list, joined with the separator; None if the result is empty."""
    labels = [label for value in values if (label := read_label(value, where)) is not None]
    if labels and separator.join(labels).split(separator) != labels:
        wrong = next(label for label in labels if f"{label}{separator}".split(separator) != [label, ""])
        how = "contains" if separator in wrong else "ends with a part of"
        raise BadRowError(
            f"the label {wrong!r} {how} the separator {separator!r}",
            where=where,
            hint="Set `label_separator` to a string that no label contains.",
        )
    return separator.join(labels) or None
