"""Chooses the format in which predictions are written, given the options and the name of the output."""

from __future__ import annotations

import os

import click

from nlptx.corpus.compression import is_packed

FORMATS = ("auto", "text", "csv", "tsv", "jsonl")
_BY_ENDING = {".txt": "text", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_NOT_WRITTEN = (".json", ".npz", ".parquet", ".xls", ".xlsx")


def choose_format(asked: str, json: bool, output: str, *, by_variable: bool = False) -> str:
    """Return the format of the output, one of FORMATS; ``auto`` means the format of the input.

    Args:
        asked: value of ``--format``.
        json: whether ``--json`` was given.
        output: output name; a final ``.gz``, ``.bz2`` or ``.xz`` is ignored.
        by_variable: whether ``asked`` comes from an environment variable. If so, ``asked`` is used only if the other
            arguments select no format.

    Raises:
        click.UsageError: the options and the output name contradict each other, or the name has the suffix of an
            unsupported format.
    """
    name = os.path.splitext(output)[0] if is_packed(output) else output
    ending = os.path.splitext(name)[1].lower()
    if ending in _NOT_WRITTEN:
        raise click.UsageError(
            f"{output}: {ending} is not supported; name it *.csv, *.tsv, *.jsonl or *.txt (and .gz, .bz2 or .xz)."
        )
    formats = {"--json": "jsonl" if json else None, f"-o {output}": _BY_ENDING.get(ending)}
    if not by_variable:
        formats[f"--format {asked}"] = asked if asked != "auto" else None
    requested = {source: format for source, format in formats.items() if format is not None}
    if len(set(requested.values())) > 1:
        raise click.UsageError(
            f"{' and '.join(requested)} ask for different formats ({', '.join(requested.values())})."
        )
    return next(iter(requested.values()), asked)
