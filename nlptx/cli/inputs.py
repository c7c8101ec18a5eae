"""Checks of the file names a command is given."""

from __future__ import annotations

import sys

import click


def inputs_or_stdin(inputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the inputs; standard input if there are none and something is piped in.

    Raises:
        click.UsageError: no inputs at a terminal.
    """
    if inputs:
        return inputs
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        raise click.UsageError("nothing to read: name a file, or pipe text in.")
    return ("-",)


def check_names(*names: str | None) -> None:
    """Raise click.UsageError if more than one of ``names`` is ``-``, or one is empty, as an unset variable is."""
    if "" in names:
        raise click.UsageError("the name of a file is empty.")
    if names.count("-") > 1:
        raise click.UsageError("standard input can be read for one purpose only; name a file for the others.")
