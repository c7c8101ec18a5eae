"""Options that contradict each other.

If one of two contradictory options comes from a source with a higher precedence (see
:mod:`nlptx.cli.options.precedence`), the other one is ignored, unless its conflict has ``always_refuse`` set;
otherwise, the command is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import click

from nlptx.cli.options.precedence import PRECEDENCE, with_origin


class Conflict(NamedTuple):
    """A conflict between an option and another option or argument.

    Args:
        message: error message. The placeholders ``{}`` stand for the two options.
        applies: function that returns whether a value of the option and a value of the other option contradict each
            other; None if the options contradict each other whatever their values.
        always_refuse: whether to refuse the command, instead of ignoring the option, if the other option has a higher
            precedence. Set this if ignoring the option would make the command do something else.
    """

    message: str
    applies: Callable[[Any, Any], bool] | None = None
    always_refuse: bool = False


def overridden(ctx: click.Context) -> set[str]:
    """Return the names of the options that are ignored because an option with a higher precedence contradicts them.

    In a command with ``--config``, do not declare conflicts of option A with B and of B with C, but not of A with C: if
    A overrides B, and B overrides C, then C would be ignored although B has no effect.
    """

    def rank(name: str) -> int:
        return PRECEDENCE.index(ctx.get_parameter_source(name))

    names: set[str] = set()
    for name, other, conflict in _conflicts(ctx):
        if rank(name) < rank(other):
            names.add(other)
        elif rank(other) < rank(name) and not conflict.always_refuse:
            names.add(name)
    return names


def refuse_conflicts(ctx: click.Context) -> None:
    """Raise click.UsageError if two options contradict each other."""
    for name, other, conflict in _conflicts(ctx):
        shown = (with_origin(ctx, one, _value(ctx, one) if conflict.applies else "") for one in (name, other))
        raise click.UsageError(conflict.message.format(*shown), ctx)


def _conflicts(ctx: click.Context) -> Iterator[tuple[str, str, Conflict]]:
    """For each conflict that occurs, yield the option that declares it, the other parameter, and the conflict."""
    for option in ctx.command.params:
        name = str(option.name)
        for other, conflict in getattr(option, "excludes", {}).items():
            are_set = _is_set(ctx, name) and _is_set(ctx, other)
            if are_set and (conflict.applies is None or conflict.applies(ctx.params[name], ctx.params[other])):
                yield name, other, conflict


def _is_set(ctx: click.Context, name: str) -> bool:
    value = ctx.params.get(name, True)  # the source of --preset is known here, but not its value
    return ctx.get_parameter_source(name) in PRECEDENCE and value is not None and value is not False and value != ()


def _value(ctx: click.Context, name: str) -> str:
    value = ctx.params[name]
    return "" if value is True else f" {value}"
