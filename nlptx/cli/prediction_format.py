"""Chooses the format in which predictions are written, given the options and the name of the output."""

from __future__ import annotations

import os

import click

from nlptx.cli.precedence import of_highest_precedence, with_origin
from nlptx.corpus.compression import is_packed
from nlptx.io.output_path import STDOUT

FORMATS = ("auto", "text", "csv", "tsv", "jsonl")
_BY_ENDING = {".txt": "text", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_NOT_WRITTEN = (".json", ".npz", ".parquet", ".xls", ".xlsx")


def choose_format(asked: str, json: bool, output: str) -> tuple[str, str]:
    """Return the format of the output, one of FORMATS, and the name of the output.

    The format ``auto`` means the format of the input.

    Args:
        asked: value of ``--format``.
        json: whether ``--json`` was given.
        output: output name; a final ``.gz``, ``.bz2`` or ``.xz`` is ignored.

    Raises:
        click.UsageError: the options and the output name contradict each other, or the name has the suffix of an
            unsupported format.
    """
    format, output = agree_on_format(asked, json, output, _format_of_name(output))
    return format or asked, output


def agree_on_format(asked: str, json: bool, output: str, by_name: str | None) -> tuple[str | None, str]:
    """Return the format for which the options ask, and the name of the output.

    If the options ask for different formats, only those of the highest precedence count. For example, the command line
    takes precedence over environment variables. If ``--output`` does not count, the output is standard output.

    Args:
        asked: value of ``--format``; ``auto`` asks for no format.
        json: whether ``--json`` was given.
        output: output name.
        by_name: format of files with this name; None if there is none.

    Returns:
        The format, None if no option asks for one; and the name of the output.

    Raises:
        click.UsageError: options of the same precedence ask for different formats.
    """
    formats = {
        "json": "jsonl" if json else None,
        "format": None if asked == "auto" else asked,
        "output": by_name,
    }
    requested = {option: format for option, format in formats.items() if format is not None}
    if len(set(requested.values())) > 1:
        kept = of_highest_precedence(*requested)
        output = output if "output" in kept or "output" not in requested else STDOUT
        requested = {option: requested[option] for option in kept}
    if len(set(requested.values())) > 1:
        context = click.get_current_context()
        values = {"json": "", "format": f" {asked}", "output": f" {output}"}
        names = " and ".join(with_origin(context, option, values[option]) for option in requested)
        raise click.UsageError(f"{names} ask for different formats ({', '.join(requested.values())}).")
    return next(iter(requested.values()), None), output


def _format_of_name(output: str) -> str | None:
    """Return the format that the name of the output implies, or None. For the errors, see :func:`choose_format`."""
    name = os.path.splitext(output)[0] if is_packed(output) else output
    ending = os.path.splitext(name)[1].lower()
    if ending in _NOT_WRITTEN:
        raise click.UsageError(
            f"{output}: {ending} is not supported; name it *.csv, *.tsv, *.jsonl or *.txt (and .gz, .bz2 or .xz)."
        )
    return _BY_ENDING.get(ending)
