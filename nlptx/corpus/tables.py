"""Converts the rows of tables (CSV, TSV, JSON lines and Parquet) to documents."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, NamedTuple, Self

from nlptx.corpus.cells import BadRowError, Row, is_missing, read_label, read_weight
from nlptx.corpus.columns import Columns
from nlptx.corpus.delimiters import delimiter_name, detect_delimiter, named_delimiter
from nlptx.corpus.document import Document
from nlptx.corpus.lines import read_lines
from nlptx.corpus.parquet import parquet_rows
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import Source
from nlptx.errors import DataError
from nlptx.io import strict_json

# Maximum number of characters in a CSV field. Without a limit, a quote that is not closed would make the rest of the
# file one field. The default limit of the csv module, 128 KiB, is too small for long texts.
MAX_FIELD_LENGTH = 8 << 20
# A quoted field with quotes inside it, each of which is written twice.
_QUOTED = re.compile(r'"[^"]*+(?:""[^"]*+)++"')


def read_table(
    source: Source,
    options: ReadOptions,
    on_guess: Callable[[str], None] = lambda note: None,
    on_bad: Callable[[DataError], None] | None = None,
) -> Iterator[Document]:
    """Yield one document per row. A missing text (null) becomes an empty text.

    Args:
        source: the open table.
        options: reading options.
        on_guess: called with a note about a column or delimiter that was guessed.
        on_bad: called with the error for each row that cannot be read; the row is then left out. If ``on_bad`` is None,
            the error is raised.

    Raises:
        DataError: the table lacks a column, or a row is invalid.
    """
    columns = Columns(options, on_guess, source.continued, source.text_column)
    for number, fields in _ROWS[source.format](source, options, columns):
        try:
            if isinstance(fields, BadRowError):
                raise fields
            document = _document(source, columns, number, fields)
        except BadRowError as error:
            if on_bad is None:
                raise
            on_bad(error)
        else:
            yield document


def _document(source: Source, columns: Columns, number: int, fields: dict[str, Any]) -> Document:
    where = f"{source.name}:{number}"
    names = columns.find(fields, where)
    text = fields.get(names.text)
    if is_missing(text):
        text = ""
    if not isinstance(text, str):
        raise BadRowError(f"column {names.text!r} contains {text!r}; expected a text", where=where)
    value = None if names.label is None else fields[names.label]
    if not columns.options.use_labels and isinstance(value, dict | list):
        value = None
    label = read_label(value, where, columns.options.label_separator)
    document = Document(
        text,
        label,
        source.name,
        number,
        fields,
        source.format,
        delimiter=source.delimiter,
        has_bom=source.has_bom,
    )
    if columns.options.weight_column is not None:
        value = None if names.weight is None else fields[names.weight]
        document = document._replace(weight=read_weight(value, where))
    return document


def raise_field_limit() -> None:
    """Let the csv module read fields of MAX_FIELD_LENGTH characters; a larger limit, set by the program, is kept."""
    csv.field_size_limit(max(MAX_FIELD_LENGTH, csv.field_size_limit()))


def _csv_rows(source: Source, options: ReadOptions, columns: Columns) -> Iterator[Row]:
    raise_field_limit()
    lines = (line for _, line in read_lines(source, options))
    if not (first := next(lines, "")):
        return
    skipped = 0
    if (named := named_delimiter(first)) is not None:
        first, skipped = next(lines, ""), 1
    source.delimiter = options.delimiter or named or detect_delimiter(first)
    if named is None and options.delimiter is None and source.delimiter != ",":
        name = delimiter_name(source.delimiter)
        columns.on_guess(f"the detected delimiter is {name!r}; if that is wrong, use `delimiter=,`")
    reader = csv.reader(chain([first], lines), delimiter=source.delimiter, strict=True)
    header: _Header | None = None
    while True:
        number = reader.line_num + 1 + skipped
        try:
            row = next(reader, None)
        except csv.Error as error:
            message = f"not valid CSV: {error} (the row starts here)"
            hint = 'Write a quote inside a quoted field twice (""), and close every quoted field.'
            if "field larger" in str(error):
                message = f"not valid CSV: a field has more than {MAX_FIELD_LENGTH:,} characters (the row starts here)"
                hint = "Close every quoted field. Longer texts can be read from .tsv and .jsonl files."
            if "new-line character" in str(error):
                message = "not valid CSV: a carriage return stands inside the row, outside a quoted field"
                hint = "Put the field into quotes; or, if carriage returns end lines, convert them: tr '\\r' '\\n'."
            bad = BadRowError(message, where=f"{source.name}:{number}", hint=hint)
            # The lines after an unclosed quote become part of the row, so leaving out the row would lose them.
            if header is None or reader.line_num + skipped > number:
                raise DataError(bad.message, where=bad.where, hint=bad.hint) from error
            yield number, bad
            continue
        if row is None:
            return
        if header is None:
            header = _Header.of(row, source, columns, number)
        elif row:
            yield number, header.cells(row, source, number)


def _tsv_rows(source: Source, options: ReadOptions, columns: Columns) -> Iterator[Row]:
    """Yield the rows, split at every tab. Quotes are ordinary characters; a field cannot contain a tab or line end."""
    header: _Header | None = None
    noted = source.continued
    for number, line in read_lines(source, options):
        row = line.rstrip("\r\n").split("\t")
        if not noted and '""' in line and any(map(_QUOTED.fullmatch, row)):
            noted = True
            columns.on_guess(
                f"line {number} seems to have quoted fields, but in a TSV file, quotes are ordinary characters; to"
                " remove them, use `format=csv` and `delimiter=tab`"
            )
        if header is None:
            header = _Header.of(row, source, columns, number)
        elif row != [""] or header.fields == 1:
            yield number, header.cells(row, source, number)


class _Header(NamedTuple):
    """The header of a table: the column names, and the number of fields in a row.

    Spreadsheet programs may add columns without a name after the last named column. All cells of such a column must be
    empty.
    """

    names: list[str]
    fields: int

    @classmethod
    def of(cls, row: list[str], source: Source, columns: Columns, number: int) -> Self:
        names = list(row)
        while len(names) > 1 and not names[-1].strip():
            names.pop()
        where = f"{source.name}:{number}"
        if row in ([], [""]):
            hint = "Delete the empty lines above the header."
            raise DataError("the line is empty; expected the names of the columns", where=where, hint=hint)
        if repeated := [name for name, times in Counter(names).items() if times > 1]:
            hint = "Give every column a different name."
            raise DataError(f"duplicate column {repeated[0]!r} in the header", where=where, hint=hint)
        columns.find(names, where)
        source.columns.extend(names)
        return cls(names, len(row))

    def cells(self, row: list[str], source: Source, number: int) -> dict[str, Any] | BadRowError:
        """Return the cells of a row as a dictionary from column name to cell."""
        named, hint = len(self.names), ""
        if len(row) != self.fields:
            message = f"{len(row)} fields; expected {self.fields} ({', '.join(self.names)})"
            hint = self._hint(source)
        elif any(row[named:]):
            message = f"column {named + 1} has content, but no name"
        else:
            return dict(zip(self.names, row[:named], strict=True))
        return BadRowError(message, where=f"{source.name}:{number}", hint=hint)

    def _hint(self, source: Source) -> str:
        """Return the advice for a row with too few or too many fields."""
        if source.format != "csv":
            return "Fields are separated by tabs. If fields are in quotes, use `format=csv`."
        if self.fields == 1:
            return "If each line is one text, use `format=text`; otherwise, put the text in double quotes."
        return "Put texts that contain the delimiter in double quotes."


def json_rows(source: Source, options: ReadOptions, columns: Columns) -> Iterator[Row]:
    """Yield, for each line that is not empty, its number and its JSON object, or an error."""
    for number, line in read_lines(source, options):
        if not line.strip():
            continue
        where = f"{source.name}:{number}"
        try:
            value = strict_json.loads(line.rstrip())
        except ValueError as error:
            reason = f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else str(error)
            yield number, BadRowError(f"not a JSON object: {reason}", where=where)
            continue
        is_object = isinstance(value, dict)
        yield (
            number,
            value if is_object else BadRowError(f"a JSON {type(value).__name__}; expected an object", where=where),
        )


def _parquet_rows(source: Source, options: ReadOptions, columns: Columns) -> Iterator[Row]:
    return parquet_rows(source.stream, source.name, source.columns.extend)


_ROWS = {"csv": _csv_rows, "tsv": _tsv_rows, "jsonl": json_rows, "parquet": _parquet_rows}
