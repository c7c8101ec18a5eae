"""The Click classes of commands and options.

These classes group the options in the help text, refuse repeated options and options that exclude each other, and
report unknown environment variables.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from nlptx.cli.environment import note_unknown_variables
from nlptx.cli.precedence import TYPED, configured, excluding, with_origin
from nlptx.settings import GROUPS, MAIN

# Type of options and arguments that are paths. Shell completion offers files and folders for them. Click does not check
# whether a path can be read; the code that opens the file reports any problems.
PATH = click.Path(readable=False, allow_dash=True)
# Maximum width of the column with the option names; longer names get a separate line.
_NAMES = 30


class Option(click.Option):
    """An option that belongs to a section of the help text.

    Args:
        group: section of the help text, one of :data:`nlptx.settings.GROUPS`.
        excludes: options and arguments that cannot be combined with this option, as Python name -> error message. In
            the message, the placeholders ``{}`` stand for this option and the other one. If one of the two comes from
            a source with a higher precedence, the other is ignored. Only one of the two options needs to exclude the
            other.
    """

    def __init__(self, *names: Any, group: str = MAIN, excludes: Mapping[str, str] | None = None, **details: Any):
        super().__init__(*names, **details)
        self.group = group
        self.excludes = excludes or {}

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the value of the environment variable.

        Return None if the ``--config`` file sets the option, or if the file or the command line sets an option that
        excludes it.
        """
        set_elsewhere = {*configured(ctx), *ctx.meta.get(f"{TYPED}.{ctx.info_name}", ())}
        overridden = self.name in set_elsewhere or set_elsewhere & excluding(ctx, str(self.name))
        return None if overridden else super().resolve_envvar_value(ctx)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the two columns of the help text: the option names, and the description with the default.

        Return None for a hidden option.
        """
        if self.hidden:
            return None
        names = ", ".join(sorted(self.opts, key=len))
        if self.secondary_opts:
            names = names.replace("--", "--[no-]", 1)
        elif not self.is_flag:
            names += f" {self._metavar()}"
        default = "[required]" if self.required else self._default(ctx)
        return names, f"{self.help}  {default}".rstrip()

    def _metavar(self) -> str:
        if isinstance(self.type, click.Choice) and self.metavar is None:
            return f"[{'|'.join(self.type.choices)}]"
        return self.metavar or {"integer": "N", "float": "X"}.get(self.type.name.removesuffix(" range"), "TEXT")

    def _default(self, ctx: click.Context) -> str:
        if not self.show_default:
            return ""
        value = self.show_default if isinstance(self.show_default, str) else self.get_default(ctx, call=False)
        if isinstance(value, bool):
            value = "on" if value else "off"
        elif isinstance(value, list | tuple):
            value = ", ".join(value)
        return f"[default: {value:g}]" if isinstance(value, float) else f"[default: {value}]"


class Command(click.Command):
    """A command whose options are instances of :class:`Option`.

    Args:
        stage: stage whose settings the command takes, if the command is not itself a stage.
    """

    def __init__(self, *names: Any, stage: str | None = None, **details: Any) -> None:
        super().__init__(*names, **details)
        self.stage = stage

    @functools.cached_property
    def excluding(self) -> dict[str, set[str]]:
        """Python name of an option -> names of the options and arguments that exclude it."""
        found: dict[str, set[str]] = {str(parameter.name): set() for parameter in self.params}
        for option in self.params:
            for other in option.excludes if isinstance(option, Option) else ():
                found[other].add(str(option.name))
                found[str(option.name)].add(other)
        return found

    def make_parser(self, ctx: click.Context) -> Any:
        """Return a parser that records what is on the command line, and rejects repeated options.

        If an option is repeated, Click's own parser would use the last value.
        """
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            values, rest, order = parse(args)
            if not ctx.resilient_parsing:
                _refuse_repeated(ctx, order)
            ctx.meta[f"{TYPED}.{ctx.info_name}"] = {str(given.name) for given in order if _is_typed(given, values)}
            return values, rest, order

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser

    def invoke(self, ctx: click.Context) -> Any:
        _refuse_exclusive(ctx)  # not while parsing, because `train` also parses options of other commands
        if not ctx.params.get("quiet"):
            note_unknown_variables(ctx)
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if isinstance(option, click.Option) and record is not None:
                sections[getattr(option, "group", GROUPS[-1])].append(record)  # click's own --help option has no group
        for group, records in sections.items():
            if records:
                with formatter.section(group):
                    formatter.write_dl(records, col_max=_NAMES)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        name = next(str(option.name) for option in self.params if isinstance(option, Option))
        formatter.write_paragraph()
        formatter.write_text(
            f"Each option has an environment variable, such as {ctx.auto_envvar_prefix}_{name.upper()} for"
            f" --{name.replace('_', '-')}."
        )


def _refuse_repeated(ctx: click.Context, order: Sequence[click.Parameter]) -> None:
    """Raise click.UsageError if an option that takes only one value was given twice."""
    given = [parameter for parameter in order if isinstance(parameter, click.Option) and not parameter.multiple]
    if any("--help" in option.opts for option in given):
        return
    for position, option in enumerate(given):
        if option in given[:position]:
            names = " / ".join(option.opts + option.secondary_opts)
            raise click.UsageError(f"{names} is given twice; use it only once.", ctx)


def _is_typed(parameter: click.Parameter, values: Mapping[str, Any]) -> bool:
    """Return whether a parameter in the parser's list is on the command line. The list contains all arguments."""
    value = values.get(str(parameter.name))
    return isinstance(parameter, click.Option) or (isinstance(value, str | tuple) and bool(value))


def _refuse_exclusive(ctx: click.Context) -> None:
    """Raise click.UsageError if two options that exclude each other are set by the same source."""
    for option in ctx.command.params:
        for other, message in option.excludes.items() if isinstance(option, Option) else ():
            if _is_set(ctx, str(option.name)) and _is_set(ctx, other):
                names = with_origin(ctx, str(option.name)), with_origin(ctx, other)
                raise click.UsageError(message.format(*names), ctx)


def _is_set(ctx: click.Context, name: str) -> bool:
    value = ctx.params.get(name, True)  # an option without a value in ctx.params, such as --preset, is not a flag
    is_default = ctx.get_parameter_source(name) in (ParameterSource.DEFAULT, None)
    return not is_default and value is not None and value is not False and value != ()


option = functools.partial(click.option, cls=Option)
command = functools.partial(click.command, cls=Command)
