"""Determines which of several sources sets the value of an option.

The order of precedence, from highest to lowest, is: command line, ``--config`` file, environment variable, preset or
effort, default. However, if ``--effort`` is given on the command line, its settings take precedence over the file.
"""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

# Keys in click.Context.meta for the path of the --config file, and for its contents as section -> name -> value.
CONFIG_FILE, CONFIGURED = "nlptx.config.file", "nlptx.config"
# Key in click.Context.meta for settings that take precedence over the --config file, as section -> name -> value.
OVERRIDES = "nlptx.overrides"
# The key in click.Context.meta for the values of --preset and --effort is this prefix, followed by the command name.
_CHOSEN = "nlptx.chosen"
# Options in a section of the --config file that apply only to the command after which the section is named. Other
# commands that read the section, such as tune, ignore these options.
_STAGE_ONLY = ("output", "resume")
# The key in click.Context.meta for the names of options to ignore is this prefix, followed by the name of the command.
_IGNORED = "nlptx.ignored"
# Sources of option values, from the highest to the lowest precedence. DEFAULT_MAP stands for the --config file in this
# list. It also contains the values from presets and efforts, whose precedence does not matter here, because they never
# contradict another option.
PRECEDENCE = (ParameterSource.COMMANDLINE, ParameterSource.DEFAULT_MAP, ParameterSource.ENVIRONMENT)


def stage_of(ctx: click.Context) -> str:
    """Return the stage whose settings a command takes. ``--config`` files and presets have a section per stage."""
    return getattr(ctx.command, "stage", None) or ctx.info_name or ""


def configured(ctx: click.Context) -> dict[str, Any]:
    """Return the values that the ``--config`` file sets for a command: Python name of the option -> value.

    If ``--effort`` is given on the command line, its values replace the values in the file. Options for which
    :func:`ignore` was called are left out.
    """
    values: dict[str, Any] = {}
    for source in (CONFIGURED, OVERRIDES):
        values |= ctx.meta.get(source, {}).get(stage_of(ctx), {})
    left_out = {*ignored(ctx), *(() if stage_of(ctx) == ctx.info_name else _STAGE_ONLY)}
    return {name: value for name, value in values.items() if name not in left_out}


def ignore(ctx: click.Context, names: set[str]) -> None:
    """Ignore values of these options from the file and environment variables when the command is parsed again."""
    ctx.meta[f"{_IGNORED}.{ctx.info_name}"] = names
    preset_and_effort(ctx).clear()


def ignored(ctx: click.Context) -> set[str]:
    """Return the names for which :func:`ignore` was called."""
    return ctx.meta.get(f"{_IGNORED}.{ctx.info_name}", set())


def preset_and_effort(ctx: click.Context) -> dict[str, str]:
    """Return the values of ``preset`` and ``effort``, the options that change the defaults of other options.

    The dictionary (option name -> value) is stored in the context, and callers may change it. Click does not pass
    ``preset`` and ``effort`` to commands, because they only change the values of other options.
    """
    return ctx.meta.setdefault(f"{_CHOSEN}.{ctx.info_name}", {})


def with_origin(ctx: click.Context, name: str, value: str = "") -> str:
    """Return the name of an option, followed by the source of its value, as in ``--lr (from NLPTX_TRAIN_LR)``.

    The source is left out if it is the command line or the default.

    Args:
        ctx: context of a command.
        name: Python name of the option.
        value: text to add directly after the name of the option, such as a space followed by the option's value.
    """
    parameter = next(parameter for parameter in ctx.command.params if parameter.name == name)
    option = min(parameter.opts, key=len)
    origin = origin_of(ctx, name)
    return f"{option}{value} (from {origin})" if origin else f"{option}{value}"


def is_default(name: str, context: click.Context | None = None) -> bool:
    """Return whether nothing has set an option of ``context``; by default, of the current command."""
    context = context or click.get_current_context()
    return context.get_parameter_source(name) is ParameterSource.DEFAULT


def is_on_command_line(name: str) -> bool:
    """Return whether an option of the current command is set on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def origin_of(ctx: click.Context, name: str) -> str | None:
    """Return the source of an option: an environment variable, a section of the file, a preset or an effort.

    Return None for all other sources.
    """
    source = ctx.get_parameter_source(name)
    if source is ParameterSource.DEFAULT_MAP:
        overridden = name in ctx.meta.get(OVERRIDES, {}).get(stage_of(ctx), {})
        if name in configured(ctx) and not overridden:
            return f"[{stage_of(ctx)}] in {ctx.meta[CONFIG_FILE]}"
        return next((f"--{option} {value}" for option, value in preset_and_effort(ctx).items()), None)
    return f"{ctx.auto_envvar_prefix}_{name.upper()}" if source is ParameterSource.ENVIRONMENT else None
