"""The options ``--report``, which writes an HTML page, and ``--by``, which divides texts into groups."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import Any

import click
from click.core import ParameterSource

from nlptx.cli.options.command import PATH, option
from nlptx.cli.options.inputs import check_names, check_not_an_input
from nlptx.cli.options.precedence import CONFIG_FILE, preset_and_effort

# Options that do not change the page. The command line shown on the page omits them.
_NOT_SHOWN = {
    *("json", "jobs", "quiet", "verbose", "no_color", "help"),
    *("plot", "min_accuracy", "show", "disagreements", "predictions", "resume"),
}


def _distinct(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(value)) < len(value):
        raise click.BadParameter("a column is given twice.", context, parameter)
    return value


# File name that the command lines on pages show.
_SHOWN_NAME = "report.html"

report_option = option(
    "--report",
    type=PATH,
    metavar="FILE",
    help="Write an HTML report with figures and texts (needs nlptx[report]).",
)
by_option = option(
    "--by",
    multiple=True,
    metavar="COLUMN",
    callback=_distinct,
    help="Show the accuracy for each value of a column.",
)


def check_page(report: str | None, inputs: Iterable[str | None]) -> None:
    """Check that the page can be written without overwriting an input. Call this function before any long computation.

    Raises:
        click.UsageError: ``report``, the file name of the page, is empty or is the name of an input.
        SettingsError, NlptxError, OutputError: as for :func:`nlptx.report.page.check_report_path`.
    """
    if report is None:
        return
    check_names(report)
    check_not_an_input(report, inputs)
    from nlptx.report.page import check_report_path

    check_report_path(report)


def this_command() -> str:
    """Return a command line that reproduces the page.

    The argument of --report is always the same, so that the bytes of a page do not depend on the name of its file.
    """
    context = click.get_current_context()
    values = {
        **context.params,
        **preset_and_effort(context),
        "config": context.meta.get(CONFIG_FILE),
        "report": _SHOWN_NAME,
    }
    words = ["nlptx", str(context.info_name)]
    for parameter in context.command.params:
        value = values.get(str(parameter.name))
        if isinstance(parameter, click.Argument):
            words += value if isinstance(value, tuple) else [str(value)]
    left_out = [ParameterSource.DEFAULT, None]
    if not _file_precedes_effort(context):
        # Values from --config, --preset or --effort are omitted, because the command line contains that option instead.
        left_out.append(ParameterSource.DEFAULT_MAP)
    for parameter in context.command.params:
        name = str(parameter.name)
        given = context.get_parameter_source(name) not in left_out
        if isinstance(parameter, click.Option) and given and name not in _NOT_SHOWN:
            words += _as_words(parameter, values[name])
    return shlex.join(words)


def _file_precedes_effort(context: click.Context) -> bool:
    """Return whether a ``--config`` file takes precedence over ``--effort``.

    This is the case if an environment variable sets the effort.
    """
    return CONFIG_FILE in context.meta and context.get_parameter_source("effort") is ParameterSource.ENVIRONMENT


def _as_words(parameter: click.Option, value: Any) -> list[str]:
    name = max(parameter.opts, key=len)
    if parameter.is_flag:
        return [name] if value else [max(parameter.secondary_opts, key=len)] if parameter.secondary_opts else []
    values = value if isinstance(value, tuple | list) else [value]
    return [word for one in values for word in (name, str(one))]
