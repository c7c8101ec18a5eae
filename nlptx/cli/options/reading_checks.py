"""Notes about inputs that are given twice, and about reading options that apply to none of the inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress

import click

from nlptx.cli.options.precedence import is_on_command_line
from nlptx.corpus.compression import is_compressed
from nlptx.corpus.content import HEAD, not_text
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import first_name, input_format, is_archive

_TEXT, _TABLE = "plain text", "a table"


def note_unused_options(on_note: Callable[[str], None], inputs: Sequence[str], *more: str | None) -> None:
    """Report options that have no effect on the given inputs.

    The options ``--text-column`` and ``--label-column`` are reported if all inputs are plain text, and ``--split`` if
    no input is a folder or an archive. Only options on the command line are reported, because environment variables and
    ``--config`` files may be meant for several commands. The options ``--delimiter`` and ``--weight-column`` are
    checked when the inputs are read.

    Args:
        on_note: called with each note.
        inputs: paths of the inputs.
        more: paths of further inputs, to which ``--split`` does not apply. Paths that are None are ignored.
    """
    context = click.get_current_context()
    format = context.params["input_format"]
    advice = "; to read a table, add --input-format csv, tsv or jsonl" if format == "auto" else ""
    all_inputs = [*inputs, *(path for path in more if path is not None)]
    for name, paths, without_effect, expected in (
        ("text_column", all_inputs, {_TEXT}, f"a table{advice}"),
        ("label_column", all_inputs, {_TEXT}, f"a table{advice}"),
        ("split", inputs, {_TEXT, _TABLE}, "a folder or an archive"),
    ):
        kinds = [_kind(path, format) for path in paths]
        if is_on_command_line(name) and without_effect >= {*kinds}:
            reason = f"none of the inputs is {expected}"
            if len(paths) == 1:
                reason = f"{first_name(paths)} is {kinds[0]}, not {expected}"
            on_note(f"--{name.replace('_', '-')} has no effect, because {reason}")


def note_repeated_inputs(on_note: Callable[[str], None], inputs: Sequence[str]) -> None:
    """Report each file, folder or archive that is given more than once."""
    names: dict[str, list[str]] = {}
    for path in filter(os.path.exists, inputs):
        names.setdefault(os.path.realpath(path), []).append(path)
    for first, *others in names.values():
        if others:
            count = 1 + len(others)
            on_note(f"{first} is given {count} times, so each of its texts counts {count} times")


def _kind(path: str, format: str) -> str | None:
    """Return _TEXT or _TABLE for a file or standard input.

    Return None for folders, archives, paths that do not exist, and files that are refused because they are not text.
    """
    if path != "-" and (os.path.isdir(path) or not os.path.exists(path) or is_archive(path)):
        return None
    if input_format(path, ReadOptions(format=format)) != "text":
        return _TABLE
    return None if os.path.isfile(path) and not is_compressed(path) and _is_binary(path) else _TEXT


def _is_binary(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return not_text(file.read(HEAD)) is not None
    return False
