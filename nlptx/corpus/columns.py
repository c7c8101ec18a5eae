"""Finds the table columns that contain the text, the label and the weight."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from nlptx.corpus.delimiters import looks_unsplit
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError

# A cell of the first line with at least this number of spaces is probably a text and not the name of a column.
_MIN_SPACES = 3
# Maximum number of columns listed in an error message.
_MAX_LISTED = 40


class FoundColumns(NamedTuple):
    """Names of the columns with the text, the label and the weight.

    ``label`` or ``weight`` is None if the table has no such column; ``label`` also if several names match inexactly.
    """

    text: str
    label: str | None
    weight: str | None


class Columns:
    """Finds the text, label and weight columns for each row, because rows of JSON lines may have different columns.

    Args:
        options: reading options, which contain the column names.
        on_guess: called with a note when a text or weight column is used although its name differs from the given name.
        continued: whether the rows come from the middle of a table; if so, even the first row may lack columns.
        text_column: name of the text column in the first row of the table; None if this row has not been read yet.
    """

    def __init__(
        self,
        options: ReadOptions,
        on_guess: Callable[[str], None],
        continued: bool = False,
        text_column: str | None = None,
    ) -> None:
        self.options = options
        self.on_guess = on_guess
        self.continued = continued
        self._text = text_column
        self._names: tuple[str, ...] | None = None
        self._found = FoundColumns("", None, None)

    def find(self, names: Iterable[str], where: str) -> FoundColumns:
        """Return the names of the columns that contain the text, the label and the weight of a row.

        Raises:
            DataError: the first row of the table lacks the text column or the requested weight column, two columns
                match the same name, or a row has a text column although another column was read as the text before.
        """
        names = tuple(names)
        if names != self._names:
            first = self._names is None and not self.continued
            label = matching_columns(self.options.label_column, names)
            columns = FoundColumns(
                self._find_text(names, where),
                label[0] if len(label) == 1 else None,
                self._find_weight(names, where, first),
            )
            self._names, self._found = names, columns
        return self._found

    def _find_text(self, names: Sequence[str], where: str) -> str:
        wanted = self.options.text_column
        name = wanted if self._text is None else self._text
        column = single_match(matching_columns(name, names), name, where, "text_column")
        if self._text is not None:
            if not matching_columns(wanted, [self._text]) and (named := matching_columns(wanted, names)):
                raise DataError(
                    f"this row has a column {named[0]!r}, but {self._text!r}, the only column of the first row, was"
                    " read as the text",
                    where=where,
                    hint="Name the column that contains the texts with `text_column`.",
                )
            return column or self._text  # if a row lacks this column, its text is empty
        if column is not None and column != name:
            self.on_guess(f"column {column!r} is read as the text")
        if column is None and self._is_one_text(names):
            column = names[0]
            self.on_guess(f"column {column!r} is the only one, and is read as the text")
        if column is None:
            raise missing_column(name, names, where, "text_column")
        self._text = column
        return column

    def _is_one_text(self, names: Sequence[str]) -> bool:
        """Return whether a table has only one column, which is read as the text although the user did not name it."""
        named = not self.options.guess_text or self.options.text_column != ReadOptions.text_column
        if named or len(names) != 1 or matching_columns(self.options.label_column, names):
            return False
        return bool(names[0].strip()) and not looks_unsplit(names[0])

    def _find_weight(self, names: Sequence[str], where: str, first: bool) -> str | None:
        name = self.options.weight_column
        if name is None:
            return None
        column = single_match(matching_columns(name, names), name, where, "weight_column")
        if column is None and first:
            raise missing_column(name, names, where, "weight_column")
        if column not in (None, name):
            self.on_guess(f"column {column!r} is read as the weight")
        return column


def matching_columns(name: str, names: Iterable[str]) -> list[str]:
    """Return the column called ``name`` or, if there is none, all columns whose names match inexactly.

    Inexact matches differ from ``name`` only in case or in surrounding spaces.

    >>> matching_columns("text", ["Text", "text"]), matching_columns("text", ["Text", " TEXT"])
    (['text'], ['Text', ' TEXT'])
    """
    names = list(names)
    if name in names:
        return [name]
    key = name.strip().casefold()
    return [other for other in names if other.strip().casefold() == key]


def single_match(matches: Sequence[str], name: str, where: str, option: str) -> str | None:
    """Return the only column in ``matches``, or None if there is none. Raises DataError if there are several."""
    if len(matches) > 1:
        raise DataError(
            f"columns {matches[0]!r} and {matches[1]!r} both match {name!r}",
            where=where,
            hint=f"Name one of them exactly with `{option}`.",
        )
    return matches[0] if matches else None


def missing_column(name: str, names: Sequence[str], where: str, option: str) -> DataError:
    """Return the error for a missing column, with a message that lists the existing columns."""
    more = f", ... ({len(names):,} in all)" if len(names) > _MAX_LISTED else ""
    listed_names = names[:_MAX_LISTED]
    has_text = any(listed.count(" ") >= _MIN_SPACES for listed in listed_names)
    # A text among several columns may contain delimiters, although the row was split correctly.
    if any(map(looks_unsplit, listed_names)) and (len(names) == 1 or not has_text):
        other = ", or set `delimiter` to the character between the columns"
    elif any(listed.startswith('"') for listed in names):
        other = "; or, because there are quotes, read the file with `format=csv`"
    elif has_text:
        other = "; if the table has no header, add a first line with the names of the columns"
    else:
        other = ""
    return DataError(
        f"no column {name!r}; the columns are {', '.join(names[:_MAX_LISTED])}{more}",
        where=where,
        hint=f"Name the column with `{option}`{other}.",
    )
