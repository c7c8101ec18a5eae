"""Writes the rows of a table as CSV, TSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from nlptx.corpus.compression import compressed
from nlptx.io.atomic_write import atomic_output

_TSV_BREAKS = str.maketrans("\t\r\n", "   ")


class TableWriter:
    """Writes one row after the other. In CSV and TSV, the header contains the columns of all rows.

    Args:
        out: binary output stream.
        layout: csv, tsv or jsonl.
        header: names of the columns.
    """

    def __init__(self, out: BinaryIO, layout: str, header: Sequence[str]) -> None:
        self.out, self.layout, self.header = out, layout, header
        if layout != "jsonl":
            self._cells(header)

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row; a column that it does not have is empty."""
        if self.layout == "jsonl":
            self._line(json.dumps(dict(row), ensure_ascii=False, default=str))
        else:
            self._cells([_cell(row.get(name)) for name in self.header])

    def _cells(self, cells: Sequence[str]) -> None:
        if self.layout == "tsv":  # TSV has no quoting, so tabs and line breaks become spaces
            self._line("\t".join(cell.translate(_TSV_BREAKS) for cell in cells))
            return
        line = io.StringIO()
        csv.writer(line).writerow(cells)
        self._line(line.getvalue().removesuffix("\r\n"))

    def _line(self, text: str) -> None:
        self.out.write(text.encode("utf-8", "backslashreplace") + b"\n")


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


@contextmanager
def open_table(output: str, layout: str, header: Sequence[str]) -> Iterator[TableWriter]:
    """Open a table, which is written atomically at the end, and compressed if its name ends in .gz, .bz2 or .xz."""
    with atomic_output(output) as whole, compressed(whole, output) as file:
        yield TableWriter(file, layout, header)
