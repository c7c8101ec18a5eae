"""The Click classes of commands and options.

Commands group their options in the help text, refuse repeated options and options that contradict each other, and
report unknown environment variables.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import click

from nlptx.cli.options.conflicts import Conflict, overridden, refuse_conflicts
from nlptx.cli.options.environment import note_unknown_variables
from nlptx.cli.options.precedence import configured, ignore, ignored
from nlptx.settings import GROUPS, MAIN

# Type of options and arguments that are paths, for which shell completion offers files and folders. Click does not
# check whether a path can be read; the code that opens the file reports any problems.
PATH = click.Path(readable=False, allow_dash=True)
# Maximum width of the column with the option names; longer names get a separate line.
_NAMES = 30


class Option(click.Option):
    """An option that belongs to a section of the help text.

    Args:
        group: section of the help text, one of :data:`nlptx.settings.GROUPS`.
        excludes: maps the Python names of other options and arguments to their conflicts with this option. If two
            options can never be combined, the error message can be given instead of a :class:`Conflict`. A conflict is
            declared in only one of the two options.
    """

    def __init__(
        self, *names: Any, group: str = MAIN, excludes: Mapping[str, str | Conflict] | None = None, **details: Any
    ) -> None:
        super().__init__(*names, **details)
        self.group = group
        self.excludes = {
            other: Conflict(conflict) if isinstance(conflict, str) else conflict
            for other, conflict in (excludes or {}).items()
        }

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """Return the value of the option's environment variable.

        Return None if the ``--config`` file sets the option, or if the option is ignored.
        """
        return None if self.name in {*configured(ctx), *ignored(ctx)} else super().resolve_envvar_value(ctx)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option's entry in the help text, in two columns: its names, and its description with the default.

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
        repeated = " Repeatable." if self.multiple else ""
        return names, f"{self.help}{repeated}  {default}".rstrip()

    def _metavar(self) -> str:
        if isinstance(self.type, click.Choice) and self.metavar is None:
            return f"[{'|'.join(self.type.choices)}]"
        kinds = {click.types.IntParamType: "N", click.types.FloatParamType: "X"}
        return self.metavar or next((name for kind, name in kinds.items() if isinstance(self.type, kind)), "TEXT")

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
        stage: name of the stage whose settings the command takes; None if the command has the name of its stage, or has
            no stage.
    """

    def __init__(self, *names: Any, stage: str | None = None, **details: Any) -> None:
        super().__init__(*names, **details)
        self.stage = stage

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return a context with the values of the options, ignoring each option that a conflicting option overrides."""
        ctx = super().make_context(info_name, [*args], parent, **extra)
        names = set() if ctx.resilient_parsing else overridden(ctx)
        if not names:
            return ctx
        ignore(ctx, names)
        return super().make_context(info_name, args, parent, **extra)

    def make_parser(self, ctx: click.Context) -> Any:
        """Return a parser that rejects repeated options, and long options with a single dash.

        Click's own parser would use the last value of a repeated option, and read ``-effort`` as ``-e ffort``.
        """
        parser = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            long_names = {name for option in self.get_params(ctx) for name in option.opts if name.startswith("--")}
            for word in args[: args.index("--")] if "--" in args else args:
                if len(word) > 2 and f"-{word}" in long_names and not ctx.resilient_parsing:
                    raise click.UsageError(f"{word} has a single dash; write -{word}.", ctx)
            values, rest, order = parse(args)
            if not ctx.resilient_parsing:
                _refuse_repeated(ctx, order)
            return values, rest, order

        parser.parse_args = parse_once  # type: ignore[method-assign]
        return parser

    def invoke(self, ctx: click.Context) -> Any:
        # Conflicts are not refused during parsing, because `train` parses the options of `cooccur` and `pca` without
        # running these commands.
        refuse_conflicts(ctx)
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


def _refuse_repeated(ctx: click.Context, order: Sequence[click.Parameter]) -> None:
    """Raise click.UsageError if an option that takes only one value was given twice."""
    given = [parameter for parameter in order if isinstance(parameter, click.Option) and not parameter.multiple]
    if any("--help" in option.opts for option in given):
        return
    for position, option in enumerate(given):
        if option in given[:position]:
            names = " / ".join(option.opts + option.secondary_opts)
            raise click.UsageError(f"{names} is given twice; use it only once.", ctx)


option = functools.partial(click.option, cls=Option)
command = functools.partial(click.command, cls=Command)
