"""Reads the rows of a Parquet file."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from nlptx.errors import DataError, NlptxError

# Column names under which pandas saves an index that has no name.
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


def parquet_rows(stream: BinaryIO, name: str, on_columns: Callable[[list[str]], None]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file as dictionaries from column name to cell. The file is read in parts.

    Cells are Python objects, such as whole numbers, dates and lists. Numbers that are not finite become None. If a data
    frame was saved with its index, a named index is a column like the others, and an unnamed index is left out.

    Args:
        stream: the open file.
        name: name of the file in messages.
        on_columns: called once with the names of the columns, before the first row, and also if there are no rows.

    Raises:
        DataError: the file cannot be read, or two columns have the same name.
        NlptxError: pyarrow is not installed.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise NlptxError("reading Parquet needs pyarrow", hint="pip install 'nlptx[parquet]'") from error
    try:
        with ParquetFile(stream) as file:
            columns = [column for column in file.schema_arrow.names if not _UNNAMED_INDEX.fullmatch(column)]
            if repeated := [column for column, times in Counter(columns).items() if times > 1]:
                hint = "Give every column a different name."
                raise DataError(f"duplicate column {repeated[0]!r}", where=name, hint=hint)
            on_columns(columns)
            for batch in file.iter_batches(columns=columns):
                for row in batch.to_pylist():
                    yield {column: _finite(row[column]) for column in columns}
    except (ArrowException, OSError) as error:
        raise DataError(f"not a Parquet file: {error}", where=name) from error


def _finite(value: Any) -> Any:
    """Return a cell in which None replaces all numbers that are not finite, because JSON cannot represent them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _finite(item) for name, item in value.items()}
    return value
