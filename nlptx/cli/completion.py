"""Shell completion."""

from __future__ import annotations

import os

import click
from click.shell_completion import shell_complete


def complete(command: click.Command, instruction: str) -> int:
    """Print the completions for a shell, or the completion script, and return the exit code.

    Args:
        command: the top-level command.
        instruction: what to print, such as ``bash_complete`` for completions or ``bash_source`` for the script.
    """
    if instruction == "bash_complete":
        _join_values()
    return shell_complete(command, {}, "nlptx", "_NLPTX_COMPLETE", instruction)


def _join_values() -> None:
    """Remove the ``=`` of ``--option=value`` from the words that Bash passes, so that the value can be completed.

    Bash splits ``--option=value`` into the three words ``--option``, ``=`` and ``value``.
    """
    words, current = os.environ["COMP_WORDS"].split("\n"), int(os.environ["COMP_CWORD"])
    for index in range(min(current, len(words)) - 1, 0, -1):
        if words[index] == "=" and words[index - 1].startswith("--"):
            del words[index]
            current -= 1
    os.environ |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(current)}
