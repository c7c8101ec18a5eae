"""Converts byte streams to lines, and plain text to documents."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NoReturn

from nlptx.corpus.document import Document
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import Source
from nlptx.errors import DataError, DecodingError
from nlptx.text.blocks import BLOCK, as_lines

BOM = b"\xef\xbb\xbf"
NOT_UTF8_HINT = (
    "Convert the text from its encoding, which is often Windows-1252 (iconv -f CP1252 -t UTF-8),"
    " or set `encoding_errors=replace` to replace such bytes."
)


def read_text(source: Source, options: ReadOptions) -> Iterator[Document]:
    """Yield one document per line. If the format of the source is ``document``, the whole stream is one document."""
    if source.format == "document":
        text = _decode(_read_all(source).removeprefix(BOM), source.name, 0, options)
        yield Document(text.strip(), source.label, source.name, format=source.format, split=source.split)
        return
    for number, line in read_lines(source, options):
        yield Document(line.rstrip("\r\n"), source.label, source.name, number, has_bom=source.has_bom)


def read_blocks(source: Source, options: ReadOptions) -> Iterator[tuple[bytes, int]]:
    """Yield the lines that :func:`read_text` reads, as blocks of lines, with the number of lines in each block.

    A block (see :mod:`nlptx.text.blocks`) is split into lines only if it contains carriage returns or is not UTF-8. A
    block is not yielded before it is full, so use :func:`read_text` if lines must be processed as they arrive.
    """
    number = 1  # number of the first line of the block
    for block, count in _whole_lines(source):
        if number == 1 and not source.continued:
            block = block.removeprefix(BOM)
        if not _is_plain(block):
            lines = enumerate(block.split(b"\n")[:-1], start=number)
            block = as_lines(_decode(line, source.name, index, options).rstrip("\r") for index, line in lines)
        yield block, count
        number += count


def _whole_lines(source: Source) -> Iterator[tuple[bytes, int]]:
    """Yield blocks of whole lines, with the number of lines in each. If the last line has no line feed, add one."""
    number = 1  # number of the current, incomplete line
    partial_line: list[bytes] = []
    length = 0  # number of bytes of the current line that have been read
    while data := source.stream.read(BLOCK):
        first, last = data.find(b"\n") + 1, data.rfind(b"\n") + 1
        if length + (first or len(data)) > source.max_bytes:
            _too_long(source, number)
        if last:
            count = data.count(b"\n")
            yield b"".join([*partial_line, data[:last]]), count
            number += count
            partial_line, length = [], 0
        partial_line.append(data[last:])
        length += len(data) - last
    if length:
        line = b"".join(partial_line)
        if number == 1 and not source.continued:
            _check_line_ends(line, source)
        yield line + b"\n", 1


def _check_line_ends(first_line: bytes, source: Source) -> None:
    """Raise a DataError if the input has no line feed, but carriage returns that separate lines."""
    if not first_line.endswith(b"\n") and b"\r" in first_line.rstrip(b"\r"):
        raise DataError(
            "its lines end in carriage returns only",
            where=source.name,
            hint="Convert them to line feeds first: tr '\\r' '\\n'.",
        )


def _is_plain(block: bytes) -> bool:
    """Return whether a block is UTF-8 and contains no carriage return."""
    try:
        block.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\r" not in block


def _decode(data: bytes, name: str, line: int, options: ReadOptions) -> str:
    try:
        return data.decode("utf-8", options.encoding_errors)
    except UnicodeDecodeError as error:
        line = line or data.count(b"\n", 0, error.start) + 1
        raise DecodingError(
            f"byte 0x{data[error.start]:02x} is not UTF-8",
            where=f"{name}:{line}",
            hint=NOT_UTF8_HINT,
        ) from error


def read_lines(source: Source, options: ReadOptions) -> Iterator[tuple[int, str]]:
    """Yield the number and the decoded text of each line, including its line end."""
    for number, line in enumerate(iter(partial(source.stream.readline, source.max_bytes + 1), b""), start=1):
        if len(line) > source.max_bytes:
            _too_long(source, number)
        if number == 1 and not source.continued:
            source.has_bom, line = line.startswith(BOM), line.removeprefix(BOM)
            _check_line_ends(line, source)
        yield number, _decode(line, source.name, number, options)


def _read_all(source: Source) -> bytes:
    blocks: list[bytes] = []
    size = 0
    while block := source.stream.read(BLOCK):
        blocks.append(block)
        size += len(block)
        if size > source.max_bytes:
            _too_long(source, 0)
    return b"".join(blocks)


def _too_long(source: Source, number: int) -> NoReturn:
    where = f"{source.name}:{number}" if number else source.name
    hint = "If the file is not damaged, unpack it first." if source.packed else "Put one document on each line."
    raise DataError(f"the text is longer than {source.max_bytes >> 20} MiB", where=where, hint=hint)
