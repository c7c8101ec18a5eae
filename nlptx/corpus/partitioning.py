"""Divides inputs into partitions, which the workers of a cluster can read independently."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

from nlptx.corpus.columns import Columns
from nlptx.corpus.compression import is_compressed
from nlptx.corpus.partition import Partition
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.row_starts import csv_row_starts, header_size
from nlptx.corpus.source import Source, input_format, is_archive
from nlptx.corpus.tables import json_rows
from nlptx.errors import DataError, SettingsError
from nlptx.io.truncation import open_detecting_truncation

# Maximum and minimum partition size, in bytes. A partition of the maximum size is counted in half a minute, and fits
# into the memory of any worker. With a smaller maximum, a large corpus would have more partitions than a scheduler can
# handle. If the minimum and the maximum allow it, the inputs are cut into about _PARTITIONS partitions of equal size:
# the workers then finish at about the same time, and the counts of all partitions can be added in one step.
_MAX_PARTITION, _MIN_PARTITION = 256 << 20, 32 << 20
_PARTITIONS = 8
# Formats of files that can be cut into partitions. In CSV, a row may span several lines; in the other formats, each
# line is one text or row.
_CUT_FORMATS = ("text", "jsonl", "tsv", "csv")


def partition_size(inputs: Sequence[str]) -> int:
    """Return the size in bytes of the partitions for counting. It depends only on the total size of the inputs."""
    total = sum(os.path.getsize(name) for name in inputs if os.path.isfile(name))
    return min(max(-(-total // _PARTITIONS), _MIN_PARTITION), _MAX_PARTITION)


def partition_inputs(inputs: Sequence[str], options: ReadOptions, size: int) -> list[Partition]:
    """Divide inputs into partitions.

    A CSV file larger than ``size`` is read from start to end to find its rows, because a line break within quotes does
    not end a row.

    Args:
        inputs: files, folders and archives.
        options: reading options, which determine the format of a file.
        size: number of bytes in a partition. The last partition of a file may be smaller, and a partition of a CSV file
            ends at the end of a row.

    Raises:
        SettingsError: an input does not exist, or is standard input, a pipe or a device.
    """
    result = []
    for name in inputs:
        if name == "-":
            raise SettingsError("the workers of a cluster cannot read standard input", hint="Pass files or folders.")
        if not os.path.exists(name):
            raise SettingsError(f"{name}: no such file or folder")
        if not os.path.isfile(name) and not os.path.isdir(name):
            raise SettingsError(
                f"{name}: the workers of a cluster cannot read a pipe or a device", hint="Pass files or folders."
            )
        path = os.path.abspath(name)
        kind = input_format(name, options)
        if not os.path.isfile(path) or is_compressed(name) or is_archive(name) or kind not in _CUT_FORMATS:
            result.append(Partition(name, path))
            continue
        total = os.path.getsize(path)
        header, starts, text_column = 0, list(range(0, max(total, 1), size)), None
        if kind == "tsv":
            header = header_size(path)
        elif kind == "csv" and total > size:
            header, starts = csv_row_starts(path, options.delimiter, size)
        elif kind == "jsonl" and total > size:
            text_column = _text_column(path, options)
        bounds = pairwise([*starts, total])
        result += [Partition(name, path, start, stop, header, text_column) for start, stop in bounds]
    return result


def _text_column(path: str, options: ReadOptions) -> str | None:
    """Return the name of the column that contains the texts, as determined by the first row of a JSON lines file."""
    columns = Columns(options, on_guess=lambda note: None)
    with open_detecting_truncation(path) as stream, suppress(DataError):  # the reader of the first partition reports it
        for _, fields in json_rows(Source(path, stream, "jsonl"), options, columns):
            if isinstance(fields, dict):
                return columns.find(fields, path).text
    return None
