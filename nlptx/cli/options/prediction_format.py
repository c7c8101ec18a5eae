"""Defines the options ``--output`` and ``--format``, and chooses the format of an output from them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

from nlptx.cli.options.command import option
from nlptx.cli.options.conflicts import Conflict
from nlptx.cli.options.inputs import check_names, check_not_an_input
from nlptx.cli.options.shared import Function, output_option
from nlptx.corpus.compression import is_compressed
from nlptx.io.output_path import STDOUT, check_writable

FORMATS = ("auto", "text", "csv", "tsv", "jsonl")
_BY_ENDING = {".txt": "text", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_NOT_WRITTEN = (".7z", ".json", ".lz4", ".npz", ".parquet", ".xls", ".xlsx", ".zip", ".zst")


def format_options(
    formats: Sequence[str], format_of_name: Callable[[str], str | None], output_help: str, format_help: str
) -> Callable[[Function], Function]:
    """Add ``--output`` and ``--format``.

    Any two of ``--output``, ``--format`` and ``--json`` contradict each other if they ask for different formats.

    Args:
        formats: values of ``--format``; ``auto`` is the default.
        format_of_name: function that returns the format implied by the name of an output file, or None if the name
            implies none.
        output_help: help text of ``--output``.
        format_help: help text of ``--format``.
    """
    output_conflicts = {
        "format": _different_formats(format_of_name, _format_of_option),
        "json": _different_formats(format_of_name, _format_of_json),
    }
    format_conflicts = {"json": _different_formats(_format_of_option, _format_of_json)}

    def decorate(function: Function) -> Function:
        kind = click.Choice(formats)
        details: dict[str, Any] = {
            "default": "auto",
            "show_default": True,
            "help": format_help,
            "excludes": format_conflicts,
        }
        return output_option("-", output_help, output_conflicts)(option("--format", type=kind, **details)(function))

    return decorate


def _different_formats(
    format_of: Callable[[Any], str | None], format_of_other: Callable[[Any], str | None]
) -> Conflict:
    """Return a conflict that applies if two options ask for different formats.

    Args:
        format_of: function that takes the value of the first option, and returns the format that it asks for, or None.
        format_of_other: the same for the second option.
    """

    def applies(value: Any, other: Any) -> bool:
        first, second = format_of(value), format_of_other(other)
        return first is not None and second is not None and first != second

    return Conflict("{} and {} ask for different formats.", applies)


def _format_of_option(requested: str) -> str | None:
    return None if requested == "auto" else requested


def _format_of_json(_: bool) -> str:
    return "jsonl"


def ending(output: str) -> str:
    """Return the suffix of the name of an output, in lower case, without a final ``.gz``, ``.bz2`` or ``.xz``."""
    name = os.path.splitext(output)[0] if is_compressed(output) else output
    return os.path.splitext(name)[1].lower()


def format_of_name(output: str) -> str | None:
    """Return the format that the suffix of the output file selects for predictions; None for any other suffix."""
    return _BY_ENDING.get(ending(output))


def choose_format(requested: str, json: bool, output: str) -> str:
    """Return the format of the output, one of FORMATS. The result ``auto`` means: the same format as the input.

    Args:
        requested: value of ``--format``.
        json: whether ``--json`` was given.
        output: file name of the output, or ``-``.

    Raises:
        click.UsageError: the name of the output has the suffix of an unsupported format.
    """
    if ending(output) in _NOT_WRITTEN:
        raise click.UsageError(
            f"{output}: {ending(output)} is not supported; name it *.csv, *.tsv, *.jsonl or *.txt (and .gz, .bz2 or"
            " .xz)."
        )
    if json:
        return "jsonl"
    return requested if requested != "auto" else format_of_name(output) or "auto"


def check_table_output(option: str, path: str, inputs: Iterable[str | None]) -> None:
    """Check that a table can be written without overwriting an input. Call this before any long computation.

    Args:
        option: option that names the table, for messages.
        path: path of the table.
        inputs: the inputs of the command; None is ignored.

    Raises:
        click.UsageError: the path is no name of a table, or the table would overwrite an input.
        OutputError: the table cannot be written.
    """
    check_names(path)
    if path == STDOUT:
        raise click.UsageError(f"{option} writes a file; use a file name instead of -.")
    format_of_table(path)
    check_not_an_input(path, inputs)
    check_writable(path)


def format_of_table(path: str) -> str:
    """Return the format that a table's suffix selects: csv, tsv or jsonl. Raise click.UsageError for other suffixes."""
    output_format = format_of_name(path)
    if output_format not in ("csv", "tsv", "jsonl"):
        raise click.UsageError(f"{path} is not the name of a table; name it *.csv, *.tsv or *.jsonl.")
    return output_format
