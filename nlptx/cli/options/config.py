"""The option ``--config FILE``, which reads options of the stages from a TOML file with one section per stage.

See :mod:`nlptx.cli.options.precedence` for what happens if an option is also set elsewhere.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields
from typing import Any

import click

from nlptx.cli.options.command import PATH, Option, option
from nlptx.cli.options.number_types import Size
from nlptx.cli.options.precedence import CONFIG_FILE, CONFIGURED, configured
from nlptx.cli.terminal.option_names import as_options
from nlptx.cli.terminal.reporter import Reporter
from nlptx.errors import SettingsError
from nlptx.settings import CountSettings, PcaSettings, Settings, TrainSettings, check_value

SECTIONS: dict[str, type[Settings]] = {"cooccur": CountSettings, "pca": PcaSettings, "train": TrainSettings}
# Options that cannot be set in a ``--config`` file.
_EXCLUDED = ("config", "help")


def config_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--config``, which replaces default values with the values in the command's section of the file.

    All sections of the file are checked. Apply this decorator above :func:`preset_option`, so that the file, which may
    set the preset, is read first.
    """

    def read(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
        if context.resilient_parsing:
            return
        # If `train` also runs the earlier stages (earlier_stages.py), it has read the file before the contexts of these
        # stages are created, so the file is not read again.
        if value is not None and CONFIGURED not in context.meta:
            context.meta[CONFIGURED] = read_config(value, context)
            context.meta[CONFIG_FILE] = value
        context.default_map = {**(context.default_map or {}), **configured(context)}

    return option(
        "--config",
        type=PATH,
        is_eager=True,
        expose_value=False,
        callback=read,
        group="Start",
        metavar="FILE",
        help="TOML file with options in sections [cooccur], [pca], [train].",
    )(function)


def read_config(path: str, context: click.Context) -> dict[str, dict[str, Any]]:
    """Read and check a ``--config`` file.

    Args:
        path: path of the TOML file.
        context: click context of any nlptx command.

    Returns:
        The contents of the file, as section -> Python name of the option -> value.

    Raises:
        click.UsageError: the file cannot be read, or a section, a key or a value in it is invalid.
    """
    checked: dict[str, dict[str, Any]] = {}
    for section, values in _parse(path).items():
        if section not in SECTIONS:
            names = ", ".join(f"[{name}]" for name in SECTIONS)
            if not isinstance(values, dict):
                raise click.UsageError(f"{path}: {section!r} is outside a section; write it below one of {names}.")
            raise click.UsageError(f"{path}: {_unknown('section', section, SECTIONS)}; the sections are {names}.")
        if not isinstance(values, dict):
            raise click.UsageError(f"{path}: {section} is set to a value; expected a section [{section}].")
        command, _ = stage_command(section, context)
        options = {_key(parameter): parameter for parameter in command.params if isinstance(parameter, Option)}
        for name in _EXCLUDED:
            options.pop(name, None)
        checked[section] = {}
        for key, value in values.items():
            parameter = options.get(key.replace("_", "-"))
            if parameter is None:
                unknown = _unknown("key", key, options)
                raise click.UsageError(f"{path}: {unknown} in [{section}]; nlptx {section} --help lists the options.")
            name = str(parameter.name)
            if name in checked[section]:
                raise click.UsageError(f"{path}: [{section}] has {_key(parameter)} twice.")
            try:
                checked[section][name] = _check(parameter, value, SECTIONS[section], context)
            except (SettingsError, click.BadParameter) as error:
                reason = as_options(str(error)) if isinstance(error, SettingsError) else error.message.rstrip(".")
                raise click.UsageError(f"{path}: {key} in [{section}]: {reason}.") from error
    return checked


def note_ignored(context: click.Context, reporter: Reporter, section: str, used: Collection[str]) -> None:
    """Report which options in a section of the ``--config`` file the command ignores.

    Args:
        context: context of the command.
        reporter: prints the note.
        section: name of the section.
        used: Python names of the options that are not reported, because the command uses them or because they cannot
            change the result.
    """
    given = context.meta.get(CONFIGURED, {}).get(section, {})
    if ignored := ", ".join(name.replace("_", "-") for name in given if name not in used):
        reporter.note(f"{context.meta[CONFIG_FILE]}: {context.info_name} ignores {ignored} in [{section}]")


def stage_command(stage: str, context: click.Context) -> tuple[click.Command, click.Context]:
    """Return the command of a stage, and the context of the top-level command, given the context of any command."""
    program = context.find_root()
    assert isinstance(program.command, click.Group)
    command = program.command.get_command(program, stage)
    assert command is not None
    return command, program


def _parse(path: str) -> dict[str, Any]:
    """Return the contents of a TOML file."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return tomllib.loads(file.read())
    except OSError as error:
        raise click.UsageError(f"{path}: {(error.strerror or str(error)).lower()}.") from error
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{path}: not a TOML file: it is not text in UTF-8.") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise click.UsageError(f"{path}: not a TOML file: {error}.") from error


def _key(parameter: Option) -> str:
    return parameter.opts[-1].removeprefix("--")


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches

    nearest = get_close_matches(name.replace("_", "-"), known, 1)
    return f"unknown {what} {name!r}" + (f" (did you mean {nearest[0]!r}?)" if nearest else "")


def _check(parameter: Option, value: Any, cls: type[Settings], context: click.Context) -> Any:
    """Return the value if the option accepts it. Numbers, strings and booleans are not converted into each other.

    Raises:
        SettingsError, click.BadParameter: the value has the wrong type, or is out of range.
    """
    kinds, expected = _expected(parameter)
    several = parameter.multiple and isinstance(value, list)
    if any(type(item) not in kinds for item in (value if several else [value])):
        shown = str(value).lower() if isinstance(value, bool) else repr(value)
        raise SettingsError(f"the value is {shown}; expected {expected}")
    if parameter.multiple and not several:
        value = [value]
    for item in fields(cls):
        if item.name == parameter.name:
            check_value(item, value)
    parameter.type_cast_value(context, value)
    return value


def _expected(parameter: Option) -> tuple[tuple[type, ...], str]:
    """Return the types that an option value may have, and a description of them."""
    if parameter.is_flag:
        return (bool,), "true or false"
    if isinstance(parameter.type, click.types.FloatParamType):
        return (int, float), "a number"
    if isinstance(parameter.type, click.types.IntParamType):
        return (int,), "a whole number"
    if isinstance(parameter.type, Size):
        return (int, str), 'a number of bytes, or a string such as "512M"'
    return (str,), "a string or a list of strings" if parameter.multiple else "a string"
