"""Finds where the rows of a table start, so that the table can be divided into partitions."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from functools import partial

from nlptx.corpus.delimiters import detect_delimiter, named_delimiter
from nlptx.corpus.lines import BOM
from nlptx.corpus.tables import raise_field_limit
from nlptx.io.truncation import open_detecting_truncation

# Maximum number of bytes in a line. After a longer line, the file is not cut again.
_MAX_LINE_BYTES = 8 << 20


def header_size(path: str) -> int:
    """Return the number of bytes in the first line of a file."""
    with open_detecting_truncation(path) as file:
        return len(file.readline(_MAX_LINE_BYTES))


def csv_row_starts(path: str, delimiter: str | None, size: int) -> tuple[int, list[int]]:
    """Find the places at which a CSV file can be cut into parts that consist of complete rows.

    Args:
        path: path of the file.
        delimiter: character between the columns; None to detect it.
        size: approximate number of bytes between two cuts.

    Returns:
        The number of bytes in the header, including a preceding line such as ``sep=;``, and the offsets of the cuts: 0
        and, for each multiple of ``size``, the start of the next row. There are no cuts after a line that is too long
        or a quote that is not closed.
    """
    header, starts, following = 0, [0], size
    total = os.path.getsize(path)
    for stop in _row_ends(path, delimiter):
        header = header or stop
        if following <= stop < total:
            starts.append(stop)
            following = (stop // size + 1) * size
    return header, starts


def _row_ends(path: str, delimiter: str | None) -> Iterator[int]:
    """Yield the offset of the end of each row. Stop at a line that is too long or a quote that is not closed.

    The first row is the header. A line such as ``sep=;`` before the header is not a row.
    """
    raise_field_limit()
    with open_detecting_truncation(path) as file:
        stop = len(BOM) if file.read(len(BOM)) == BOM else 0
        file.seek(stop)
        first = file.readline(_MAX_LINE_BYTES)
        if (named := named_delimiter(_decode(first))) is not None:
            stop, first = stop + len(first), file.readline(_MAX_LINE_BYTES)
        delimiter = delimiter or named or detect_delimiter(_decode(first))
        file.seek(stop)
        line = b""

        def lines() -> Iterator[str]:
            nonlocal line, stop
            for line in iter(partial(file.readline, _MAX_LINE_BYTES), b""):
                stop += len(line)
                yield _decode(line)

        reader = csv.reader(lines(), delimiter=delimiter, strict=True)
        while True:
            number = reader.line_num + 1
            try:
                if next(reader, None) is None:
                    return
            except csv.Error:
                if reader.line_num > number:  # a quote is not closed, so the end of the row is unknown
                    return
            if not line.endswith(b"\n"):  # the last line, or a part of a line that is too long
                return
            yield stop


def _decode(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
