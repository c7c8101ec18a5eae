"""Options for reading inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from nlptx.cli.options.command import PATH, option
from nlptx.cli.options.conflicts import Conflict
from nlptx.cli.options.precedence import is_default, origin_of
from nlptx.corpus.label_map import parse_label_map
from nlptx.corpus.read_options import ENCODING_ERRORS, FORMATS, SPLITS, ReadOptions
from nlptx.errors import SettingsError

if TYPE_CHECKING:
    from nlptx.classifier.model import Model

Function = Callable[..., Any]

_TABS = ("tab", r"\t")
_SKIP_BAD = {
    False: "Leave out empty texts and rows that cannot be read, and report their number.",
    True: "Leave out unreadable rows, and rows without text or label.",
}
_skip_bad = functools.partial(option, "--skip-bad", is_flag=True, group="Data")
skip_bad_option = _skip_bad(help=_SKIP_BAD[True])
label_map_option = option(
    "--map",
    multiple=True,
    metavar="OLD=NEW",
    group="Data",
    help="Replace a label (1=pos), or omit its rows (3=).",
)
_weight_column = option(
    "--weight-column",
    metavar="NAME",
    group="Data",
    help="Column of weights; a row with a weight of 2 counts as two rows.",
)
delimiter_option = option(
    "--delimiter",
    metavar="CHAR",
    group="Data",
    show_default="from the header",
    help="CSV delimiter, or 'tab'.",
)
encoding_errors_option = option(
    "--encoding-errors",
    type=click.Choice(ENCODING_ERRORS),
    default=ReadOptions.encoding_errors,
    show_default=True,
    metavar="MODE",
    group="Data",
    help="Refuse (strict) or replace invalid UTF-8.",
)
_exclude = option(
    "--exclude",
    type=PATH,
    metavar="FILE",
    group="Data",
    help="Table of rows to leave out, as written by nlptx check.",
)
# With --label-separator, the default loss is a multi-label loss; a loss that the user chose is kept. If that loss
# contradicts --label-separator, the separator is never ignored, because without it each combination of labels would
# become a label.
_ONE_LABEL_LOSS = Conflict(
    "{1} requires one label per text, but {0} gives a text several labels; use only one of them.",
    lambda _, loss: loss == "cross-entropy",
    always_refuse=True,
)
label_separator_option = option(
    "--label-separator",
    metavar="CHAR",
    group="Data",
    excludes={"loss": _ONE_LABEL_LOSS},
    help="Read several labels per text, separated by CHAR.",
)


def with_separator(reading: ReadOptions, model: Model) -> ReadOptions:
    """Return the reading options. If the user chose no label separator, add that of the model, if it is multi-label."""
    if model.multi_label is None or reading.label_separator is not None:
        return reading
    return replace(reading, label_separator=model.multi_label.separator)


def read_label_map(pairs: tuple[str, ...]) -> dict[str, str]:
    """Return the replacement of each label, parsed from the values of ``--map``.

    If the values come from an environment variable, the hint of an error says how the variable is split.

    Raises:
        SettingsError: see :func:`parse_label_map`.
    """
    try:
        return parse_label_map(pairs)
    except SettingsError as error:
        context = click.get_current_context()
        if context.get_parameter_source("map") is ParameterSource.ENVIRONMENT:
            file = any(parameter.name == "config" for parameter in context.command.params)
            elsewhere = '--map, or map = ["a=very bad"] in a --config file' if file else "--map"
            error.hint = f"{origin_of(context, 'map')} is split at spaces. For labels with spaces, use {elsewhere}."
        raise


def parse_delimiter(value: str | None) -> str | None:
    """Return the delimiter that a value of ``--delimiter`` means."""
    return "\t" if value in _TABS else value


def reading_options(
    splits: tuple[str, ...],
    *,
    skip_bad: bool = False,
    labelled: bool = False,
    training: bool = False,
    separator: bool = False,
    exclude: bool = False,
) -> Callable[[Function], Function]:
    """Add the options for reading inputs; the command receives their values as ``reading``.

    Args:
        splits: which of the corpus folders ``train``, ``test`` and ``unsup`` are read by default.
        skip_bad: whether to add ``--skip-bad``, which leaves out rows that cannot be used.
        labelled: whether the command needs labels; if so, ``--map`` is added, and invalid labels are errors.
        training: whether to add ``--weight-column`` and ``--label-separator``.
        separator: whether to add ``--label-separator``. A command that always loads a model does not need this
            option, because a model stores the separator of its labels.
        exclude: whether to add ``--exclude``.
    """
    label_help = "Table column that contains the label" + ("." if labelled else ", which is never read as the text.")

    def decorate(function: Function) -> Function:
        @option(
            "--text-column",
            metavar="NAME",
            default=ReadOptions.text_column,
            show_default=True,
            help="Table column that contains the text.",
        )
        @option("--label-column", metavar="NAME", default=ReadOptions.label_column, show_default=True, help=label_help)
        @option(
            "--input-format",
            type=click.Choice(FORMATS),
            default="auto",
            show_default=True,
            metavar="FORMAT",
            group="Data",
            help="text, csv, tsv, jsonl, or auto (by file name).",
        )
        @delimiter_option
        @option(
            "--split",
            type=click.Choice([*SPLITS, "all"]),
            multiple=True,
            default=splits,
            show_default=True,
            group="Data",
            help="Split of the data to read.",
        )
        @encoding_errors_option
        @functools.wraps(function)
        def wrapped(
            *args: Any,
            text_column: str,
            label_column: str,
            input_format: str,
            delimiter: str | None,
            split: tuple[str, ...],
            encoding_errors: str,
            skip_bad: bool = False,
            weight_column: str | None = None,
            label_separator: str | None = None,
            **kwargs: Any,
        ) -> Any:
            reading = ReadOptions(
                text_column=text_column,
                label_column=label_column,
                format=input_format,
                splits=() if "all" in split else tuple(split),
                encoding_errors=encoding_errors,
                skip_bad=skip_bad,
                delimiter=parse_delimiter(delimiter),
                label_map=read_label_map(kwargs.pop("map", ())),
                weight_column=weight_column,
                label_separator=label_separator,
                exclude=kwargs.pop("exclude", None),
                guess_text=is_default("text_column"),
                use_labels=labelled,
            )
            return function(*args, reading=reading, **kwargs)

        result: Function = wrapped
        for enabled, add in (
            (training or separator, label_separator_option),
            (training, _weight_column),
            (labelled, label_map_option),
            (exclude, _exclude),
            (skip_bad, _skip_bad(help=_SKIP_BAD[labelled])),
        ):
            result = add(result) if enabled else result
        return result

    return decorate
