"""Reads the rows of a Parquet file."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from nlptx.corpus.cells import BadRowError, Row
from nlptx.errors import DataError, NlptxError

if TYPE_CHECKING:
    from pyarrow import RecordBatch

# Column names under which pandas saves an index that has no name.
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


def parquet_rows(stream: BinaryIO, name: str, on_columns: Callable[[list[str]], None]) -> Iterator[Row]:
    """Yield, for each row of a Parquet file, its number (from 1) and a dictionary from column name to cell.

    The file is read in parts. If Python cannot represent a cell of a row, such as a date after the year 9999, a
    BadRowError is yielded instead of the dictionary.

    Cells are Python objects, such as whole numbers, dates and lists. Numbers that are not finite become None. If a data
    frame was saved with its index, a named index is a column like the others, and an unnamed index is left out.

    Args:
        stream: the open file.
        name: name of the file in messages.
        on_columns: called once with the names of the columns, before the first row, even if there are no rows.

    Raises:
        DataError: the file cannot be read, or two columns have the same name.
        NlptxError: pyarrow is not installed.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise NlptxError("reading Parquet needs pyarrow", hint="pip install 'nlptx[parquet]'") from error
    if not stream.seekable():
        hint = "Decompress it first; Parquet files compress their contents themselves."
        raise DataError("a compressed Parquet file cannot be read", where=name, hint=hint)
    try:
        with ParquetFile(stream) as file:
            columns = [column for column in file.schema_arrow.names if not _UNNAMED_INDEX.fullmatch(column)]
            if repeated := [column for column, times in Counter(columns).items() if times > 1]:
                hint = "Give every column a different name."
                raise DataError(f"duplicate column {repeated[0]!r}", where=name, hint=hint)
            on_columns(columns)
            number = 1
            for batch in file.iter_batches(columns=columns):
                yield from _rows(_with_short_decimals(batch), name, number)
                number += batch.num_rows
    except (ArrowException, OSError) as error:
        raise DataError(f"not a Parquet file: {error}", where=name) from error


def _with_short_decimals(batch: RecordBatch) -> RecordBatch:
    """Return the batch with float64 instead of float32 columns, in which 3.7 is 3.7 and not 3.700000047683716."""
    from pyarrow import RecordBatch, float32, float64, string

    columns = [
        column.cast(string()).cast(float64()) if column.type == float32() else column for column in batch.columns
    ]
    return RecordBatch.from_arrays(columns, batch.schema.names)


def _rows(batch: RecordBatch, name: str, first: int) -> Iterator[Row]:
    """Yield the rows of a batch, which is one part of the file. ``first`` is the number of the first row in it."""
    try:
        rows: Iterable[dict[str, Any] | BadRowError] = map(_finite, batch.to_pylist())
    except (OverflowError, ValueError):
        rows = (_row(batch, row, f"{name}:{first + row}") for row in range(batch.num_rows))
    yield from enumerate(rows, start=first)


def _row(batch: RecordBatch, row: int, where: str) -> dict[str, Any] | BadRowError:
    """Return the cells of a row, or an error that names the cell that cannot be converted to a Python object."""
    cells = {}
    for column, values in zip(batch.schema.names, batch.columns, strict=True):
        try:
            cells[column] = _finite(values[row].as_py())
        except (OverflowError, ValueError) as error:
            hint = "Correct the cell, leave out the column, or leave such rows out with `skip_bad`."
            return BadRowError(f"column {column!r} cannot be read: {error}", where=where, hint=hint)
    return cells


def _finite(value: Any) -> Any:
    """Return a cell after replacing NaN and infinite numbers with None, because JSON cannot represent them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _finite(item) for name, item in value.items()}
    return value
