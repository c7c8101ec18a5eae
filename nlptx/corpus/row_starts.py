"""Finds where the rows of a table start, so that the table can be cut."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from itertools import chain

from nlptx.corpus.delimiters import detect_delimiter
from nlptx.corpus.tables import LONGEST_FIELD
from nlptx.io.whole_file import open_whole

# Maximum number of bytes in a line. A file is not cut after a longer line.
_LONGEST_LINE = 8 << 20


def header_size(path: str) -> int:
    """Return the number of bytes in the first line of a file."""
    with open_whole(path) as file:
        return len(file.readline(_LONGEST_LINE))


def csv_row_starts(path: str, delimiter: str | None, size: int) -> tuple[int, list[int]]:
    """Find rows at which a CSV file can be cut.

    Args:
        path: path of the file.
        delimiter: character between the columns; None to detect it.
        size: number of bytes between two cuts.

    Returns:
        The number of bytes in the header, and the offsets of the cuts: 0, the end of the first row that ends at
        ``size`` or after it, the end of the first row that ends at the next multiple of ``size`` or after it, and so
        on. There are no cuts after a row that cannot be read.
    """
    csv.field_size_limit(LONGEST_FIELD)
    header, starts, following = 0, [0], size
    for stop in _row_ends(path, delimiter):
        header = header or stop
        if stop >= following:
            starts.append(stop)
            following = (stop // size + 1) * size
    return header, starts


def _row_ends(path: str, delimiter: str | None) -> Iterator[int]:
    """Yield the offset after each row, up to the first row that cannot be read."""
    with open_whole(path) as file:
        lines = iter(partial(file.readline, _LONGEST_LINE), b"")
        stop = 0

        def decoded() -> Iterator[str]:
            nonlocal stop
            for line in lines:
                stop += len(line)
                yield _decode(line)

        for line in lines:
            stop += len(line)
            text = _decode(line.removeprefix(b"\xef\xbb\xbf")) if stop == len(line) else ""
            delimiter = delimiter or detect_delimiter(text)
            if b'"' in line:
                reader = csv.reader(chain([text or _decode(line)], decoded()), delimiter=delimiter, strict=True)
                try:
                    next(reader)
                except csv.Error:
                    if reader.line_num > 1:  # a quote is not closed
                        return
            if not line.endswith(b"\n"):
                return
            yield stop


def _decode(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")
