"""Prints notes on environment variables NLPTX_* that have no effect, because they belong to no option."""

from __future__ import annotations

import os

import click

from nlptx.cli.terminal.reporter import print_note

# Variables that do not set options: the first enables tracebacks, and the second names a folder of test data.
_NO_OPTIONS = ("NLPTX_DEBUG", "NLPTX_SHARED_DATA")
# Minimum similarity (0 to 1) of an unknown variable's name and the variable that a note suggests.
_SIMILAR = 0.8


def note_unknown_variables(ctx: click.Context) -> None:
    """Print a note for each NLPTX_* variable that sets no option.

    Variables with the prefix of another command are not reported.
    """
    parent = ctx.parent
    if parent is None or not isinstance(parent.command, click.Group):
        return
    prefix, names = f"{parent.auto_envvar_prefix}_", parent.command.list_commands(parent)
    elsewhere = tuple(f"{prefix}{name.upper()}_" for name in names if name != ctx.info_name)
    known = _variables(ctx.command, prefix)
    unknown = [name for name in sorted(os.environ) if name.startswith(prefix) and not name.startswith(elsewhere)]
    for name in unknown:
        if name in known or name in _NO_OPTIONS:
            continue
        from difflib import get_close_matches

        commands = filter(None, (parent.command.get_command(parent, other) for other in names))
        all_known = [variable for command in commands for variable in _variables(command, prefix)]
        with_command = f"{prefix}{ctx.command.name}_{name.removeprefix(prefix)}".upper()
        nearest = [with_command] if with_command in known else get_close_matches(name, known, 1, _SIMILAR)
        nearest = nearest or get_close_matches(name, all_known, 1, _SIMILAR)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        print_note(f"the environment variable {name} has no effect{hint}")


def _variables(command: click.Command, prefix: str) -> list[str]:
    """Return the environment variables that set the options of a command."""
    options = [option for option in command.params if isinstance(option, click.Option)]
    return [f"{prefix}{command.name}_{option.name}".upper() for option in options]
