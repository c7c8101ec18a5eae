"""Checks the file names that are passed to a command."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from nlptx.cli.options.precedence import CONFIG_FILE
from nlptx.cli.terminal.reporter import print_note
from nlptx.io.paths import is_same_file

# Name of standard input or standard output.
_STREAM = "-"


def inputs_or_stdin(inputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the inputs, or ``("-",)`` (standard input) if there are none.

    If - names a terminal, a note says that the command waits for input.

    Raises:
        click.UsageError: there are no inputs, and standard input is a terminal or closed.
    """
    is_terminal = sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
    if _STREAM in inputs and is_terminal:
        print_note("reading from the terminal; end with Ctrl-D")
    if inputs:
        return inputs
    if sys.stdin is None or sys.stdin.closed or is_terminal:
        raise click.UsageError("nothing to read: name a file, or pipe text in.")
    return (_STREAM,)


def check_names(*names: str | None) -> None:
    """Raise click.UsageError if ``-`` occurs twice, or if a name is empty, for example from an unset shell variable."""
    if "" in names:
        raise click.UsageError("a file name is empty.")
    if names.count(_STREAM) > 1:
        raise click.UsageError("standard input (-) can be used for only one of the inputs; name a file for the others.")


def check_not_an_input(output: str, inputs: Iterable[str | None]) -> None:
    """Raise click.UsageError if the output is one of the inputs, a document in an input folder, or the settings file.

    Inputs that are None are ignored, and so are standard input and standard output.
    """
    if output == _STREAM:
        return
    context = click.get_current_context(silent=True)
    for name in (*inputs, None if context is None else context.meta.get(CONFIG_FILE)):
        if not name or name == _STREAM:
            continue
        if os.path.isfile(name) and is_same_file(name, output):
            raise click.UsageError(f"{output} is also an input and would be overwritten; use another name.")
        if os.path.isdir(name) and _is_document_in(name, output):
            raise click.UsageError(
                f"{output} is in the input folder {name} and would be overwritten; use another name."
            )


def _is_document_in(folder: str, name: str) -> bool:
    """Return whether an existing file is one of the documents that are read from a folder."""
    from nlptx.corpus.locations import is_document_name  # late import: --help does not need it

    above = Path(name).parent.resolve()
    is_inside = Path(folder).resolve() in (above, *above.parents)
    return is_inside and os.path.isfile(name) and is_document_name(os.path.basename(name))
