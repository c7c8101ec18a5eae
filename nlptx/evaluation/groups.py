"""Accuracy on groups of texts: texts with the same value in a column, or with a similar number of words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.corpus.columns import matching_columns, missing_column, single_match
from nlptx.corpus.document import Document
from nlptx.errors import DataError
from nlptx.metrics import wilson_interval

# Maximum number of groups into which texts are divided by length.
_LENGTHS = 8


@dataclass(frozen=True)
class Group:
    """Accuracy on a group of texts.

    Args:
        name: value of the column, or a range of lengths in words, such as "10 to 14".
        texts: number of texts.
        accuracy: fraction of the texts whose prediction is correct.
        interval: 95% Wilson interval of the accuracy.
    """

    name: str
    texts: int
    accuracy: float
    interval: tuple[float, float]

    @classmethod
    def of(cls, name: str, correct: NDArray[np.bool_]) -> Group:
        """Return the accuracy on a group of one or more texts.

        Args:
            name: name of the group.
            correct: (texts,) whether each prediction is correct.
        """
        hits = int(correct.sum())
        return cls(name, len(correct), hits / len(correct), wilson_interval(hits, len(correct)))


def column_values(column: str, documents: Sequence[Document], option: str = "by") -> list[str]:
    """Return the value of a column for each document; an empty string if the cell is empty.

    If no column has exactly this name, a column whose name differs only in case or in surrounding spaces is used. In
    JSON lines, some rows may lack the column; their value is an empty string.

    Args:
        column: name of the column.
        documents: the rows of a table.
        option: name of the option by which the user chose the column, for error messages.

    Raises:
        DataError: a document has no columns, the column is missing, or several columns match ``column``.
    """
    names: dict[tuple[str, ...], str] = {}
    values = []
    for document in documents:
        if document.fields is None:
            raise DataError(
                f"this text is not in a table, so it has no column {column!r}",
                where=document.where,
                hint=f"`{option}` names a column of a table, such as a .csv, .tsv or .jsonl file.",
            )
        fields = tuple(document.fields)
        if fields not in names:
            match = single_match(matching_columns(column, fields), column, document.where, option)
            if match is None and document.format != "jsonl":
                raise missing_column(column, fields, document.where, option)
            names[fields] = match or column
        values.append(cell_text(document.fields.get(names[fields])))
    if not any(column in document.fields for document in documents for column in names.values() if document.fields):
        raise missing_column(column, list(documents[0].fields or ()), documents[0].where, option)
    return values


def group_values(column: str, documents: Sequence[Document], on_note: Callable[[str], None]) -> list[str]:
    """Return the group of each document, which is its value in a column.

    All documents without a value form one group, so that documents that really belong together are never separated.

    Args:
        column: name of the column.
        documents: the rows of a table.
        on_note: called with a note if some documents have no value.

    Raises:
        DataError: in the same cases as :func:`column_values`.
    """
    values = column_values(column, documents, "group")
    if missing := values.count(""):
        on_note(
            f"{missing:,} of {len(values):,} texts have no value in the column {column!r}; they are treated as"
            " one group"
        )
    return values


def accuracy_by_group(groups: Sequence[str], correct: NDArray[np.bool_]) -> list[Group]:
    """Return the accuracy on each group, the largest group first; groups of equal size are sorted by name.

    Args:
        groups: group of each text.
        correct: (texts,) whether each prediction is correct.
    """
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(groups):
        rows.setdefault(name, []).append(row)
    result = [Group.of(name, correct[members]) for name, members in rows.items()]
    return sorted(result, key=lambda group: (-group.texts, group.name))


def accuracy_by_length(texts: Sequence[str], correct: NDArray[np.bool_]) -> list[Group]:
    """Return the accuracy by length. The length of a text is its number of words, separated by white space.

    The texts are divided into at most eight groups of similar size, the shortest texts first.

    Args:
        texts: one or more texts.
        correct: (texts,) whether each prediction is correct.
    """
    lengths = np.array([len(text.split()) for text in texts])
    # The smallest length in each group. Equal quantiles are merged, so that texts of equal length are in one group.
    firsts = np.unique(np.quantile(lengths, np.arange(_LENGTHS) / _LENGTHS, method="higher"))
    group_of = np.searchsorted(firsts, lengths, side="right") - 1
    groups = []
    for number in range(len(firsts)):
        members = group_of == number
        low, high = int(lengths[members].min()), int(lengths[members].max())
        groups.append(Group.of(f"{low}" if low == high else f"{low} to {high}", correct[members]))
    return groups


def cell_text(value: Any) -> str:
    """Return the value of a cell as text; an empty string for a missing value."""
    return "" if value is None else str(value).strip()
