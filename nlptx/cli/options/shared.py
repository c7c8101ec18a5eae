"""Options shared by several commands, and options generated from the settings classes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import click
from click.core import ParameterSource

from nlptx.cli.options.command import PATH, option
from nlptx.cli.options.conflicts import Conflict
from nlptx.cli.options.number_types import CountRange, Size
from nlptx.cli.options.precedence import OVERRIDES, configured, preset_and_effort, stage_of
from nlptx.cli.terminal.option_names import as_options
from nlptx.cli.terminal.reporter import Reporter
from nlptx.presets import EFFORTS, PRESETS
from nlptx.runtime.blas import load_blas
from nlptx.settings import DEFAULT_MEMORY, MAIN, MIN_MEMORY, SEED, Settings

Function = Callable[..., Any]
# The word that users write instead of a path to choose the bundled model; reports show it too.
BUNDLED = "bundled"


@dataclass(frozen=True)
class CommonOptions:
    """Values of the options that every command has: the reporter, the number of jobs, and whether to print JSON."""

    reporter: Reporter
    jobs: int | None
    json: bool


def common_options(
    *, json_help: str = "Print the summary as one JSON object on standard output.", computes: bool = True
) -> Callable[[Function], Function]:
    """Add the options that every command has; the command receives their values as ``common``.

    Args:
        json_help: help text of ``--json``.
        computes: whether the command computes with NumPy; otherwise NumPy is not loaded.
    """

    def decorate(function: Function) -> Function:
        @option("-j", "--jobs", type=CountRange(1), show_default="all", help="Number of cores to use.")
        @option("--json", is_flag=True, group="Output", help=json_help)
        @option("-q", "--quiet", is_flag=True, group="Output", help="Print only errors and the result.")
        @option("-v", "--verbose", is_flag=True, group="Output", help="Print more details.")
        @option(
            "--no-color",
            is_flag=True,
            group="Output",
            help="Disable colours, as the environment variable NO_COLOR does.",
        )
        @functools.wraps(function)
        def wrapped(
            *args: Any, json: bool, jobs: int | None, quiet: bool, verbose: bool, no_color: bool, **kwargs: Any
        ) -> Any:
            common = CommonOptions(Reporter(quiet, verbose, not no_color), jobs, json)
            if computes:
                from nlptx.runtime.resources import useful_jobs

                # Load BLAS now, because later the data may leave too little memory for it.
                load_blas("numpy", 1 + useful_jobs(jobs))
            return function(*args, common=common, **kwargs)

        return wrapped

    return decorate


def output_option(
    default: str, help: str, excludes: Mapping[str, Conflict] | None = None
) -> Callable[[Function], Function]:
    """Add ``-o/--output``."""
    details: dict[str, Any] = {"show_default": True, "metavar": "FILE", "help": help, "excludes": excludes}
    return option("-o", "--output", type=PATH, default=default, **details)


def model_option(function: Function, excludes: Mapping[str, Conflict] | None = None) -> Function:
    """Add ``-m/--model``. The command receives None for the bundled model, which is the default."""
    return option(
        "-m",
        "--model",
        type=PATH,
        metavar="FILE",
        show_default=BUNDLED,
        excludes=excludes,
        callback=lambda context, parameter, value: None if value == BUNDLED else value,
        help="Model file, made by nlptx train.",
    )(function)


seed_option = option(
    "--seed",
    type=CountRange(0),
    default=SEED,
    show_default=True,
    group="Output",
    help="Seed for all random number generators.",
)


def memory_options_in(group: str) -> Callable[[Function], Function]:
    """Return a decorator that adds ``--memory``, in the given section of the help text, and ``--tmp-dir``."""

    def check(context: click.Context, parameter: click.Parameter, value: int) -> int:
        if value < MIN_MEMORY:
            raise click.BadParameter(f"at least {MIN_MEMORY >> 20}M is needed.", context, parameter)
        return value

    memory = option(
        "--memory",
        type=Size(),
        default=f"{DEFAULT_MEMORY >> 30}G",
        show_default=True,
        metavar="SIZE",
        group=group,
        callback=check,
        help="Maximum memory for data; the excess goes to disk.",
    )
    folder = option(
        "--tmp-dir",
        type=click.Path(exists=True, file_okay=False, writable=True),
        metavar="FOLDER",
        group="Output",
        show_default="system default",
        help="Folder for temporary files.",
    )
    return lambda function: memory(folder(function))


memory_options = memory_options_in(MAIN)


def settings_options(cls: type[Settings], *, only_main: bool = False) -> Callable[[Function], Function]:
    """Add one option per field of a settings class; the command receives their values as ``settings``.

    Args:
        cls: the settings class.
        only_main: whether the help text hides all options except those of its first section.
    """
    names = [item.name for item in fields(cls)]

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            values = {name: kwargs.pop(name) for name in names}
            return function(*args, settings=cls(**values), **kwargs)

        result: Function = wrapped
        for item in reversed(fields(cls)):
            name = "--" + item.name.replace("_", "-")
            choices = item.metadata["choices"]
            if isinstance(item.default, bool):
                name = f"{name}/--no-{name[2:]}"
            kind = click.Choice(choices) if choices else type(item.default)
            group = item.metadata["group"]
            details = {"group": group, "help": as_options(item.metadata["help"]), "hidden": only_main and group != MAIN}
            details["metavar"] = item.metadata["metavar"]
            result = option(name, type=kind, default=item.default, show_default=True, **details)(result)
        return result

    return decorate


def preset_option(function: Function) -> Function:
    """Add ``--preset``, which replaces the default settings with those used in a published article."""
    help_text = "Use the settings from an article on transformers (Goldstraw; Bloem)."
    return _defaults_option("--preset", PRESETS, "Start", help_text)(function)


def effort_option(function: Function) -> Function:
    """Add ``--effort``, which replaces the default settings according to the time that training may take."""
    help_text = "fast: only n-gram models; best: more region filters."
    excludes = {"preset": "{1} and {0} both choose the settings; use only one of them."}
    return _defaults_option("--effort", EFFORTS, MAIN, help_text, excludes)(function)


def _defaults_option(
    name: str,
    known: Mapping[str, Mapping[str, dict[str, Any]]],
    group: str,
    help_text: str,
    excludes: Mapping[str, str] | None = None,
) -> Callable[[Function], Function]:
    """Return a decorator that adds an option whose value changes the defaults of the settings.

    A setting from the command line, a file or an environment variable takes precedence over the defaults that the
    option selects. ``--effort`` on the command line is an exception: its values also take precedence over a file or an
    environment variable. A setting that another effort changes, but this one does not, gets its default value.
    """

    def choose(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
        if value is None:
            return
        stage, chosen = stage_of(context), known[value].get(stage_of(context), {})
        if parameter.name == "effort" and context.get_parameter_source("effort") is ParameterSource.COMMANDLINE:
            set_by_any = {setting for effort in known.values() for setting in effort.get(stage, {})}
            defaults = {item.name: item.default for item in context.command.params if item.name in set_by_any}
            context.meta[OVERRIDES] = {stage: {**defaults, **chosen}}
        context.default_map = {**chosen, **configured(context)}
        preset_and_effort(context)[str(parameter.name)] = value

    kind = click.Choice(list(known))
    details: dict[str, Any] = {"group": group, "help": help_text, "excludes": excludes}
    return option(name, type=kind, is_eager=True, expose_value=False, callback=choose, **details)
