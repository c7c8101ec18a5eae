"""An input that is open for reading. The reading options or the name of the input determine its format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from nlptx.corpus.compression import is_compressed
from nlptx.corpus.read_options import ReadOptions

_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_TABLES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
# Maximum number of bytes in a text or row, for uncompressed and for compressed input. The limit for uncompressed input
# is high, because some corpora are a single long line. The limit for compressed input is low, because a compressed file
# of a few kilobytes must not fill the memory.
_MAX_BYTES, MAX_PACKED_BYTES = 1 << 30, 8 << 20


@dataclass
class Source:
    """An open stream of bytes: a file, an archive member or standard input.

    Args:
        name: name used in messages.
        stream: the decompressed bytes.
        format: ``text`` (one document per line), ``document`` (one document) or a table format.
        label: name of the folder that contains the file, or None.
        split: ``train``, ``test``, ``unsup`` or ``valid`` if the source is in a folder of this split, otherwise None.
        packed: whether the input is compressed or an archive.
        columns: column names of a table, available after its header has been read.
        delimiter: character between the columns of a CSV table, available after its header has been read.
        continued: whether the stream starts in the middle of a file.
        text_column: if the stream starts in the middle of a file of JSON lines, the name of the column that contains
            the texts, as determined by the first row of the file; otherwise None.
        has_bom: whether the stream begins with a byte order mark, available after the first line has been read.
    """

    name: str
    stream: BinaryIO
    format: str
    label: str | None = None
    split: str | None = None
    packed: bool = False
    columns: list[str] = field(default_factory=list)
    delimiter: str = ","
    continued: bool = False
    text_column: str | None = None
    has_bom: bool = False

    @property
    def max_bytes(self) -> int:
        """Maximum number of bytes in one text or row."""
        return MAX_PACKED_BYTES if self.packed else _MAX_BYTES


def first_name(inputs: Sequence[str]) -> str:
    """Return the name that messages use for the first input; an empty string if there are no inputs."""
    first = inputs[0] if inputs else ""
    return "<stdin>" if first == "-" else first


def is_archive(name: str) -> bool:
    """Return whether an input is an archive of documents, judging by its name."""
    return name.lower().endswith(_ARCHIVES)


def format_by_name(name: str) -> str:
    """Return the format indicated by a file name: a table format, or ``text``. A compression suffix is ignored."""
    inner = os.path.splitext(name)[0] if is_compressed(name) else name
    return _TABLES.get(os.path.splitext(inner)[1].lower(), "text")


def input_format(name: str, options: ReadOptions) -> str:
    """Return the format in which a file is read. If a delimiter other than a tab is set, TSV is read as CSV."""
    format = format_by_name(name) if options.format == "auto" else options.format
    return "csv" if format == "tsv" and options.delimiter not in (None, "\t") else format
