"""Convert byte streams to documents: plain text, CSV, TSV, JSON lines and Parquet."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any, NoReturn

from nlptx.corpus.document import Document, ReadOptions
from nlptx.corpus.sources import Source
from nlptx.errors import DataError, DecodingError, NlptxError
from nlptx.io import strict_json
from nlptx.text.blocks import BLOCK, as_lines

_BOM = b"\xef\xbb\xbf"
# Maximum number of characters in a CSV field. If a quote is not closed, the rest of the file becomes one field. The
# default limit of the csv module, 128 KiB, is too small for long texts.
_LONGEST_FIELD = 8 << 20


def read_text(source: Source, options: ReadOptions) -> Iterator[Document]:
    """Read one document per line; the stream of a ``document`` source is one document."""
    if source.format == "document":
        text = _decode(_whole(source).removeprefix(_BOM), source.name, 0, options)
        yield Document(text.strip(), source.label, source.name, format=source.format, split=source.split)
        return
    for number, line in _lines(source, options):
        yield Document(line.rstrip("\r\n"), source.label, source.name, number)


def read_blocks(source: Source, options: ReadOptions) -> Iterator[tuple[bytes, int]]:
    """Read the same lines as :func:`read_text`. Yield blocks of lines and the number of lines in each block.

    A block (see :mod:`nlptx.text.blocks`) is split into lines only if it contains carriage returns or is not UTF-8.
    A block is yielded when it is full, so use :func:`read_text` if lines must be processed as they arrive.
    """
    number = 1  # number of the first line of the block
    for block, count in _whole_lines(source):
        if number == 1:
            block = block.removeprefix(_BOM)
        if not _is_plain(block):
            lines = enumerate(block.split(b"\n")[:-1], start=number)
            block = as_lines(_decode(line, source.name, place, options).rstrip("\r") for place, line in lines)
        yield block, count
        number += count


def _whole_lines(source: Source) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of lines and the number of lines in each; a missing line feed at the end is added."""
    number = 1  # number of the current, incomplete line
    begun: list[bytes] = []
    length = 0  # number of bytes of that line read so far
    while data := source.stream.read(BLOCK):
        first, last = data.find(b"\n") + 1, data.rfind(b"\n") + 1
        if length + (first or len(data)) > source.longest:
            _too_long(source, number)
        if last:
            count = data.count(b"\n")
            yield b"".join([*begun, data[:last]]), count
            number += count
            begun, length = [], 0
        begun.append(data[last:])
        length += len(data) - last
    if length:
        yield b"".join([*begun, b"\n"]), 1


def _is_plain(block: bytes) -> bool:
    """Return whether a block is UTF-8 and contains no carriage return."""
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\r" not in block


def read_table(source: Source, options: ReadOptions) -> Iterator[Document]:
    """Read one document per row. A missing text (null) becomes an empty text.

    Raises:
        DataError: a row is invalid, or the first row has no text column.
    """
    column_found = False
    for number, fields in _ROWS[source.format](source, options):
        where = f"{source.name}:{number}"
        column_found = column_found or options.text_column in fields
        if not column_found:
            _no_column(options.text_column, fields, source, number)
        text, label = fields.get(options.text_column), fields.get(options.label_column)
        if _is_missing(text):
            text = ""
        if not isinstance(text, str):
            raise DataError(f"column {options.text_column!r} holds {text!r}; expected a text", where=where)
        yield Document(text, _label(label, where), source.name, number, fields, source.format)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _label(value: Any, where: str) -> str | None:
    if isinstance(value, dict | list):
        raise DataError(f"the label is {value!r}; expected a word or a number", where=where)
    if _is_missing(value):
        return None
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")  # all digits, because rounding could merge two labels
    if isinstance(value, bool):
        return "true" if value else "false"  # as written in JSON and in other formats
    return " ".join(str(value).split()) or None


def _no_column(name: str, fields: dict[str, Any], source: Source, number: int) -> NoReturn:
    raise DataError(
        f"no column {name!r}; the columns are {', '.join(map(str, fields))}",
        where=f"{source.name}:{number}",
        hint="Name the column with `text_column`.",
    )


def _decode(data: bytes, name: str, line: int, options: ReadOptions) -> str:
    try:
        return data.decode("utf-8", options.encoding_errors)
    except UnicodeDecodeError as error:
        line = line or data.count(b"\n", 0, error.start) + 1
        raise DecodingError(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            where=f"{name}:{line}",
            hint="Convert it from its encoding, which is often Windows-1252 (iconv -f CP1252 -t UTF-8),"
            " or read on with `encoding_errors=replace`.",
        ) from error


def _lines(source: Source, options: ReadOptions) -> Iterator[tuple[int, str]]:
    """Yield the number and the decoded text of each line, including its line end."""
    for number, line in enumerate(iter(partial(source.stream.readline, source.longest + 1), b""), start=1):
        if len(line) > source.longest:
            _too_long(source, number)
        if number == 1:
            line = line.removeprefix(_BOM)
            if source.format != "text" and b"\r" in line.rstrip(b"\r") and not line.endswith(b"\n"):
                raise DataError(
                    "its lines end in a carriage return alone",
                    where=source.name,
                    hint="Give them line feeds first: tr '\\r' '\\n'.",
                )
        yield number, _decode(line, source.name, number, options)


def _whole(source: Source) -> bytes:
    blocks: list[bytes] = []
    size = 0
    while block := source.stream.read(BLOCK):
        blocks.append(block)
        size += len(block)
        if size > source.longest:
            _too_long(source, 0)
    return b"".join(blocks)


def _too_long(source: Source, number: int) -> NoReturn:
    where = f"{source.name}:{number}" if number else source.name
    hint = "Unpack it first if it is not damaged." if source.packed else "Put one document on a line."
    raise DataError(f"a text of more than {source.longest >> 20} MiB", where=where, hint=hint)


def _csv_rows(source: Source, options: ReadOptions) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader((line for _, line in _lines(source, options)), strict=True)
    header: list[str] | None = None
    number = 1
    try:
        for row in reader:
            if header is None:
                header = _header(row, source, options)
            elif row:
                yield number, _row(header, row, source, number)
            number = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"not valid CSV: {error} (the row starts here)",
            where=f"{source.name}:{number}",
            hint='A quote inside a quoted field is written twice (""), and every opened quote is closed.',
        ) from error


def _tsv_rows(source: Source, options: ReadOptions) -> Iterator[tuple[int, dict[str, Any]]]:
    """Split at every tab. Quotes are ordinary characters, because a field can contain neither tab nor line end."""
    header: list[str] | None = None
    for number, line in _lines(source, options):
        row = line.rstrip("\r\n").split("\t")
        if header is None:
            header = _header(row, source, options)
        elif row != [""] or len(header) == 1:
            yield number, _row(header, row, source, number)


def _header(names: list[str], source: Source, options: ReadOptions) -> list[str]:
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(f"the header names column {repeated[0]!r} twice", where=f"{source.name}:1")
    if options.text_column not in names:
        _no_column(options.text_column, dict.fromkeys(names), source, 1)
    source.columns.extend(names)
    return names


def _row(header: list[str], row: list[str], source: Source, number: int) -> dict[str, Any]:
    if len(row) != len(header):
        raise DataError(
            f"{len(row)} fields; expected {len(header)} ({', '.join(header)})", where=f"{source.name}:{number}"
        )
    return dict(zip(header, row, strict=True))


def _json_rows(source: Source, options: ReadOptions) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in _lines(source, options):
        if not line.strip():
            continue
        try:
            value = strict_json.loads(line.rstrip())
        except ValueError as error:
            reason = f"{error.msg} (column {error.colno})" if isinstance(error, json.JSONDecodeError) else str(error)
            raise DataError(f"not a JSON object: {reason}", where=f"{source.name}:{number}") from error
        if not isinstance(value, dict):
            raise DataError(f"a JSON {type(value).__name__}; expected an object", where=f"{source.name}:{number}")
        yield number, value


def _parquet_rows(source: Source, options: ReadOptions) -> Iterator[tuple[int, dict[str, Any]]]:
    import pandas as pd

    try:
        frame = pd.read_parquet(source.name)
    except ImportError as error:
        raise NlptxError("reading Parquet needs pyarrow", hint="pip install 'nlptx[parquet]'") from error
    except (ValueError, OSError) as error:
        raise DataError(f"not a Parquet file: {error}", where=source.name) from error
    frame = frame.astype(object).where(frame.notna(), None)
    for number, row in enumerate(frame.to_dict("records"), start=1):
        yield number, {str(key): value for key, value in row.items()}


_ROWS = {"csv": _csv_rows, "tsv": _tsv_rows, "jsonl": _json_rows, "parquet": _parquet_rows}
