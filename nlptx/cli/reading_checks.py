"""Notes about options for reading inputs that apply to none of the inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import click
from click.core import ParameterSource

from nlptx.corpus.document import ReadOptions
from nlptx.corpus.source import input_format, is_archive

_TABLE, _FOLDERS = ("a table",), ("a folder", "an archive")
_TEXT = "plain text"


def note_unused_options(on_note: Callable[[str], None], inputs: Sequence[str], *more: str | None) -> None:
    """Report each option on the command line that selects columns or splits if no input has any.

    Options from variables and settings files are not reported, because they are meant for several commands. The options
    ``--delimiter`` and ``--weight-column`` are checked when the inputs are read.

    Args:
        on_note: called with each note.
        inputs: paths of the inputs.
        more: paths of further inputs, to which ``--split`` does not apply. Paths that are None are ignored.
    """
    context = click.get_current_context()
    reading = ReadOptions(format=context.params.get("input_format", ReadOptions.format))
    paths = [*inputs, *(path for path in more if path is not None)]
    for name, expected, read in (
        ("text_column", _TABLE, paths),
        ("label_column", _TABLE, paths),
        ("split", _FOLDERS, inputs),
    ):
        kinds = [_kind(path, reading) for path in read]
        is_typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not is_typed or {*expected, None} & {*kinds}:
            continue
        reason = f"none of the inputs is {' or '.join(expected)}"
        if len(read) == 1:
            shown = "standard input" if read[0] == "-" else read[0]
            reason = f"{shown} is {kinds[0]}, not {' or '.join(expected)}"
        advice = "; to read a table, add --input-format csv, tsv or jsonl"
        on_note(
            f"note: --{name.replace('_', '-')} has no effect, because {reason}"
            f"{advice if expected == _TABLE and _TEXT in kinds else ''}"
        )


def _kind(path: str, reading: ReadOptions) -> str | None:
    """Return the kind of an input, or None if it does not exist; the error is then reported when it is read."""
    if path == "-":
        path = ""
    elif os.path.isdir(path):
        return "a folder"
    elif not os.path.exists(path):
        return None
    elif is_archive(path):
        return "an archive"
    return _TEXT if input_format(path, reading) == "text" else "a table"
