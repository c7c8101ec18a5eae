"""Writes the rows of a table as CSV, TSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from nlptx.cli.results.output_file import open_output
from nlptx.corpus.delimiters import looks_unsplit

TSV_BREAKS = str.maketrans("\t\r\n", "   ")
_CSV_END = "\r\n"


def cell(value: Any) -> str:
    """Return the text of a table cell: empty for None, and JSON for numbers, booleans, lists and dictionaries.

    Strings are not changed, and other objects, such as dates, are converted to strings.
    """
    if value is None:
        return ""
    in_json = isinstance(value, bool | int | float | list | dict)
    return json.dumps(value, ensure_ascii=False, default=str) if in_json else str(value)


def as_cells(row: Mapping[str, Any], separator: str | None) -> dict[str, Any]:
    """Convert an input row for a CSV or TSV table, so that the labels read from this table are those of the input.

    A list of str is joined by the separator, if there is one and no element contains it. A whole number such as 5.0
    becomes "5", because 5.0 and 5 are the same label in JSON lines, but not in CSV and TSV.
    """
    return {name: _as_cell(value, separator) for name, value in row.items()}


def _as_cell(value: Any, separator: str | None) -> Any:
    if isinstance(value, float) and value.is_integer():
        return repr(float(value)).removesuffix(".0")
    if separator is not None and isinstance(value, list):
        joined = all(isinstance(each, str) and separator not in each for each in value)
        return separator.join(value) if joined else value
    return value


def table_line(cells: Sequence[str], output_format: str, delimiter: str = ",") -> str:
    """Return the cells of a row as a line of a CSV or TSV table, without a line end."""
    if output_format == "tsv":  # TSV has no quoting, so tabs and line breaks become spaces
        return "\t".join(text.translate(TSV_BREAKS) for text in cells)
    line = io.StringIO()
    # Before Python 3.13, csv quotes a cell with a line break character only if lineterminator contains this character.
    csv.writer(line, delimiter=delimiter, lineterminator=_CSV_END).writerow(cells)
    return line.getvalue().removesuffix(_CSV_END)


def header_line(names: Sequence[str], output_format: str, delimiter: str = ",") -> str:
    """Return the header of a CSV or TSV table, without a line end.

    In CSV, a name that contains a usual delimiter is quoted, so that the delimiter of the table can be detected.
    """
    if output_format == "tsv" or not any(map(looks_unsplit, names)):
        return table_line(names, output_format, delimiter)
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    return delimiter.join(quoted)


class TableWriter:
    """Writes a table row by row. In CSV and TSV, only the columns named in ``header`` are written.

    Args:
        out: binary output stream.
        output_format: csv, tsv or jsonl.
        header: names of the columns.
    """

    def __init__(self, out: BinaryIO, output_format: str, header: Sequence[str]) -> None:
        self.out, self.output_format, self.header = out, output_format, header
        if output_format != "jsonl":
            self._write_line(header_line(header, output_format))

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row. In CSV and TSV, the cell of a column that the row lacks is empty."""
        if self.output_format == "jsonl":
            self._write_line(json.dumps(dict(row), ensure_ascii=False, default=str))
        else:
            self._write_line(table_line([cell(row.get(name)) for name in self.header], self.output_format))

    def _write_line(self, text: str) -> None:
        # A lone surrogate cannot be encoded in UTF-8, so it is written as \udXXX, which is a valid escape in JSON.
        self.out.write(text.encode("utf-8", "backslashreplace") + b"\n")


@contextmanager
def open_table(output: str, output_format: str, header: Sequence[str]) -> Iterator[TableWriter]:
    """Open ``output`` for writing a table.

    If it is a file, not standard output, it is written atomically, and compressed if its name ends in .gz, .bz2 or .xz.
    """
    with open_output(output) as file:
        yield TableWriter(file, output_format, header)
