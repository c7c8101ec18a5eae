"""Options shared by several commands, and options generated from the settings classes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import click

from nlptx.cli.command import PATH, configured, option
from nlptx.cli.option_names import as_options
from nlptx.cli.reporter import Reporter
from nlptx.corpus.document import FORMATS, SPLITS, ReadOptions
from nlptx.presets import ARTICLES, PRESETS
from nlptx.runtime.blas import load_blas
from nlptx.settings import DEFAULT_MEMORY, LEAST_MEMORY, SEED, Settings

Function = Callable[..., Any]
# Key of the preset of a command in its context, before the name of the command.
PRESET = "nlptx.preset"
# Name of the bundled model in help and reports, instead of its path.
BUNDLED = "bundled"


@dataclass(frozen=True)
class Run:
    """Options that every command has: the reporter, the number of jobs, and whether to print JSON."""

    talk: Reporter
    jobs: int | None
    json: bool


def run_options(
    *, json_help: str = "Print the summary as one JSON object on standard output."
) -> Callable[[Function], Function]:
    """Add the options that every command has; the command receives them as ``run``."""

    def decorate(function: Function) -> Function:
        @option("-j", "--jobs", type=click.IntRange(1), show_default="all", help="Number of cores to use.")
        @option("--json", is_flag=True, group="Output", help=json_help)
        @option("-q", "--quiet", is_flag=True, group="Output", help="Print nothing but errors and the result.")
        @option("-v", "--verbose", is_flag=True, group="Output", help="Print more.")
        @option("--no-color", is_flag=True, group="Output", help="No colours; the variable NO_COLOR does the same.")
        @functools.wraps(function)
        def wrapped(
            *args: Any, json: bool, jobs: int | None, quiet: bool, verbose: bool, no_color: bool, **kwargs: Any
        ) -> Any:
            run = Run(Reporter(quiet, verbose, not no_color), jobs, json)
            from nlptx.runtime.workers import default_jobs

            load_blas("numpy", 1 + (jobs or default_jobs()))  # before the data takes up memory
            return function(*args, run=run, **kwargs)

        return wrapped

    return decorate


def output_option(default: str, help: str) -> Callable[[Function], Function]:
    """Add ``-o/--output``."""
    return option("-o", "--output", type=PATH, default=default, show_default=True, metavar="FILE", help=help)


def model_option(function: Function) -> Function:
    """Add ``-m/--model``."""
    help = "Output of nlptx train."
    return option("-m", "--model", type=PATH, metavar="FILE", show_default=BUNDLED, help=help)(function)


seed_option = option(
    "--seed",
    type=click.IntRange(0),
    default=SEED,
    show_default=True,
    group="Output",
    help="Seed of all random numbers.",
)


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Size(click.ParamType):
    """A number of bytes, such as 512M or 1.5G."""

    name = "size"

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", value.strip(), re.IGNORECASE)
        if found is None:
            self.fail(f"{value!r} is not a size; expected a number of bytes such as 512M or 2G.", parameter, context)
        return int(float(found[1]) * _UNITS[found[2].upper()])


def memory_options(function: Function) -> Function:
    """Add the options for the memory limit of a stage and the folder of its temporary files."""

    def check(context: click.Context, parameter: click.Parameter, value: int) -> int:
        if value < LEAST_MEMORY:
            raise click.BadParameter(f"at least {LEAST_MEMORY >> 20}M is needed.", context, parameter)
        return value

    memory = option(
        "--memory",
        type=Size(),
        default=f"{DEFAULT_MEMORY >> 30}G",
        show_default=True,
        metavar="SIZE",
        callback=check,
        help="Memory limit; the rest goes to temporary files.",
    )
    folder = option(
        "--tmp-dir",
        type=click.Path(exists=True, file_okay=False, writable=True),
        metavar="FOLDER",
        group="Output",
        show_default="that of the system",
        help="Folder of temporary files.",
    )
    return memory(folder(function))


def settings_options(cls: type[Settings]) -> Callable[[Function], Function]:
    """Add one option per field of a settings class; the command receives them as ``settings``."""
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
            told = {"group": item.metadata["group"], "help": as_options(item.metadata["help"])}
            result = option(name, type=kind, default=item.default, show_default=True, **told)(result)
        return result

    return decorate


def preset_option(function: Function) -> Function:
    """Add ``--preset``, which replaces the defaults of the settings; any other source of a value takes precedence."""

    def choose(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
        if value is not None:
            context.default_map = {**PRESETS[value].get(context.info_name or "", {}), **configured(context)}
            context.meta[f"{PRESET}.{context.info_name}"] = value

    articles = " or ".join(ARTICLES.values())
    return option(
        "--preset",
        type=click.Choice(list(PRESETS)),
        is_eager=True,
        expose_value=False,
        callback=choose,
        group="Start",
        help=f"Settings of an article, {articles}.",
    )(function)


def reading_options(splits: tuple[str, ...], *, labelled: bool = False) -> Callable[[Function], Function]:
    """Add the options for reading inputs; the command receives them as ``reading``.

    Args:
        splits: parts that are read by default of a corpus with folders train, test and unsup.
        labelled: whether texts need labels.
    """
    help = "Leave out rows without text or label, and say how many."
    skip_bad = option("--skip-bad", is_flag=True, group="Data", help=help)

    def decorate(function: Function) -> Function:
        @option("--text-column", default="text", show_default=True, help="Column of a table that holds the text.")
        @option("--label-column", default="label", show_default=True, help="Column of a table that holds the label.")
        @option(
            "--input-format",
            type=click.Choice(FORMATS),
            default="auto",
            show_default=True,
            group="Data",
            help="auto: by the file name; standard input is text.",
        )
        @option(
            "--split",
            type=click.Choice([*SPLITS, "all"]),
            multiple=True,
            default=splits,
            show_default=True,
            group="Data",
            help="Parts to read, if the corpus has them.",
        )
        @option(
            "--encoding-errors",
            type=click.Choice(["strict", "replace"]),
            default="strict",
            show_default=True,
            group="Data",
            help="Bytes that are not UTF-8: stop, or replace.",
        )
        @functools.wraps(function)
        def wrapped(
            *args: Any,
            text_column: str,
            label_column: str,
            input_format: str,
            split: tuple[str, ...],
            encoding_errors: str,
            skip_bad: bool = False,
            **kwargs: Any,
        ) -> Any:
            chosen = () if "all" in split else tuple(split)
            reading = ReadOptions(text_column, label_column, input_format, chosen, encoding_errors, skip_bad)
            return function(*args, reading=reading, **kwargs)

        result: Function = wrapped
        return skip_bad(result) if labelled else result

    return decorate
