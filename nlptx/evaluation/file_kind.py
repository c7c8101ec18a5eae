"""Recognises models and tables of predictions by their content."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice

from nlptx.corpus.compression import is_compressed, open_by_name
from nlptx.corpus.content import HEAD, not_text
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.corpus.opening import STDIN
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import format_by_name
from nlptx.evaluation.table_columns import find_column, named_predictions, predicted_column, probability_columns

# Maximum number of rows whose columns are examined.
_ROWS = 1000
_PARQUET = b"PAR1"
_ARTIFACT = b"PK\x03\x04"
_DELIMITERS = (b"\t", b",", b";", b"|")


def is_table(path: str) -> bool:
    """Return whether a file contains a table rather than a model.

    Standard input and pipes are never treated as tables, because examining their first bytes would consume them.
    """
    if path == STDIN or not os.path.isfile(path):
        return False
    if is_compressed(path):
        return format_by_name(path) != "text"
    head = _head(path)
    return head.startswith(_PARQUET) or (not_text(head) is None and _table_format(head) is not None)


def is_model(path: str) -> bool:
    """Return whether a file is probably a model: whether it starts with the same bytes as every artifact."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(len(_ARTIFACT)) == _ARTIFACT


def has_predictions(path: str, reading: ReadOptions, *, after_models: bool = False) -> bool:
    """Return whether a file is a table with predictions, judging by the names of its columns.

    Args:
        path: path of the file.
        reading: options for reading the table.
        after_models: whether the file follows two or more models on the command line, and may therefore contain only
            the labelled texts. If True, and if the table has a column with the true labels, a column ``label`` beside a
            column ``confidence`` is not assumed to contain predictions.
    """
    rows = _first_rows(path, reading) if is_table(path) else []
    if probability_columns(rows) or named_predictions(rows, reading.label_column):
        return True
    if after_models and find_column(rows, reading.label_column):
        return False
    return predicted_column(rows, reading.label_column, labels_known=False) is not None


def has_true_labels(path: str, reading: ReadOptions) -> bool:
    """Return whether a table has a column with the true labels."""
    return find_column(_first_rows(path, reading), reading.label_column) is not None


def with_format(path: str, reading: ReadOptions, *, only_input: bool = False) -> ReadOptions:
    """Return a copy of ``reading`` with the format of the table at ``path``.

    The format is determined by the name of the file or, if that fails, by its content. ``reading.format`` and
    ``reading.delimiter`` are ignored, because they describe other inputs, such as labelled data from a pipe. If the
    table is the only input, they describe the table, so they are kept.
    """
    if only_input and (reading.format != "auto" or reading.delimiter is not None):
        return reading
    format = _table_format(_head(path)) or "csv" if format_by_name(path) == "text" else "auto"
    return replace(reading, format=format, delimiter=None)


def _first_rows(path: str, reading: ReadOptions) -> list[Document]:
    """Return the first rows of a table. One row is not enough, because JSON lines may have different columns."""
    return list(islice(Corpus([path], with_format(path, reading)), _ROWS))


def _head(path: str) -> bytes:
    with open_by_name(path) if is_compressed(path) else open(path, "rb") as stream:
        return stream.read(HEAD)


def _table_format(head: bytes) -> str | None:
    """Return the format of a table, given its first bytes; None if they are neither a header nor a JSON object."""
    line = head.lstrip(b"\xef\xbb\xbf").split(b"\n")[0].strip()
    if line.startswith(b"{"):
        return "jsonl"
    delimiter = next((each for each in _DELIMITERS if each in line), None)
    return None if delimiter is None else "tsv" if delimiter == b"\t" else "csv"
