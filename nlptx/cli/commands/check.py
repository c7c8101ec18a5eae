"""``nlptx check``."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.inputs import check_names, inputs_or_stdin
from nlptx.cli.options.number_types import CountRange, NumberRange
from nlptx.cli.options.prediction_format import check_table_output
from nlptx.cli.options.reading import reading_options, with_separator
from nlptx.cli.options.reading_checks import note_repeated_inputs, note_unused_options
from nlptx.cli.options.shared import CommonOptions, common_options, seed_option
from nlptx.cli.results.check_report import as_json, draw_check
from nlptx.cli.results.check_suggestions import draw_suggested, suggested_as_json
from nlptx.cli.results.check_tables import write_bad_rows, write_to_label
from nlptx.cli.results.output_file import RaisedLater
from nlptx.cli.steps.check_predictions import GivenModel, predictions_of_table
from nlptx.cli.terminal.reporter import print_json
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import format_by_name
from nlptx.data_quality.kinds import KINDS
from nlptx.errors import QualityGateError
from nlptx.runtime.resources import cost
from nlptx.settings import SIMILARITY

if TYPE_CHECKING:
    from nlptx.data_quality.check import Check


def _refuse_skip_bad(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        raise click.UsageError("check needs no --skip-bad: it always reports bad rows and continues.", context)


@command()
@click.argument("data", nargs=-1, type=PATH, metavar="DATA...")
@option(
    "--against",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Test data; texts of DATA that also occur in it are reported.",
)
@option("--bad-rows", type=PATH, metavar="FILE", help="Write a table of rows to leave out, for nlptx train --exclude.")
@option("--suggest", type=CountRange(1), metavar="N", help="List the N texts that are most worth labelling.")
@option("--unlabelled", type=PATH, multiple=True, metavar="FILE", help="More unlabelled texts to choose from.")
@option(
    "--to-label",
    type=PATH,
    metavar="FILE",
    help="Write the texts that --suggest lists to a table with an empty label column.",
)
@option(
    "--out-of-fold",
    type=PATH,
    metavar="FILE",
    excludes={"model": "{} and {} both supply predictions; use only one of them."},
    help="Predictions from nlptx crossvalidate --predictions, used to find wrong labels.",
)
@option(
    "-m",
    "--model",
    type=PATH,
    metavar="FILE",
    help="Model that helps to find wrong labels; it must not have been trained on DATA.",
)
@option(
    "--similarity",
    type=NumberRange(0.3, 1),
    default=SIMILARITY,
    show_default=True,
    help="Minimum Jaccard similarity of near-duplicates.",
)
@option("--skip-bad", is_flag=True, hidden=True, expose_value=False, callback=_refuse_skip_bad)
@option("--examples", type=CountRange(0), default=3, show_default=True, help="Number of examples per fault.")
@option(
    "--fail-on",
    type=click.Choice(["any", *KINDS]),
    multiple=True,
    metavar="KIND",
    help="Exit with code 5 if DATA has this kind of fault, named as in the report. any: every kind"
    " except those that may list correct rows.",
)
@seed_option
@reading_options(("train",), labelled=True, exclude=True, separator=True)
@common_options(json_help="Print the report as one JSON object.")
def check(
    data: tuple[str, ...],
    against: tuple[str, ...],
    bad_rows: str | None,
    suggest: int | None,
    unlabelled: tuple[str, ...],
    to_label: str | None,
    out_of_fold: str | None,
    model: str | None,
    similarity: float,
    examples: int,
    fail_on: tuple[str, ...],
    seed: int,
    reading: ReadOptions,
    common: CommonOptions,
) -> None:
    """Find faults in labelled data.

    \b
    nlptx check reviews.csv --against test.csv --bad-rows rows.tsv --fail-on overlap
    nlptx check reviews.csv --suggest 50 --unlabelled more.txt --to-label next.csv

    The report shows the number of texts, and their lengths and labels. The report then lists the faults, each with
    examples and advice: rows without a text or label, duplicates, near-duplicates, identical texts with different
    labels, texts that also occur in the --against data, damaged characters, markup, and unusual texts.

    Labels that are probably wrong are found by confident learning (Northcutt et al. 2021), with n-gram models: each
    text is scored by a model that was fitted on other parts of DATA. With -m, the given model also scores the texts,
    which makes the list of probably wrong labels more precise; the model must know all labels of DATA. If it also has
    other labels, only the scores of the given model are used. With --out-of-fold, the search for wrong labels uses only
    the predictions in the given table.

    --bad-rows writes a table of the rows that can be left out to remove a fault: empty texts, exact and near copies of
    other texts or of --against texts, and texts whose labels conflict or are probably wrong. If you want to keep some
    of these rows for training, delete their lines from the --bad-rows table. Then pass the table to nlptx train
    --exclude.

    --suggest N lists the N unlabelled texts that are most worth labelling: the texts about which the n-gram models, or
    the model given with -m, are most uncertain. If several texts resemble each other, --suggest lists only one of them,
    unless this would leave fewer than N texts. The printed list ends after 20 texts; --json prints all of them, and
    --to-label writes them to a table. Fill in the labels in the --to-label table, and pass it to nlptx train together
    with DATA.

    The exit code is 0 even if there are faults in DATA, unless --fail-on is given.
    """
    data = inputs_or_stdin(data)
    check_names(*data, *against, *unlabelled, out_of_fold, model)
    # The column options also apply to --to-label, because they name the columns of its table.
    note_unused_options(common.reporter.note, data, *against, *unlabelled, out_of_fold, to_label)
    note_repeated_inputs(common.reporter.note, data)
    if suggest is None and (unlabelled or to_label is not None):
        raise click.UsageError("--unlabelled and --to-label need --suggest N, the number of texts to suggest.")
    for name, path in (("--bad-rows", bad_rows), ("--to-label", to_label)):
        if path is not None:
            check_table_output(name, path, (*data, *against, *unlabelled, out_of_fold, model))
    if bad_rows is not None and to_label is not None and os.path.realpath(bad_rows) == os.path.realpath(to_label):
        raise click.UsageError("--bad-rows and --to-label name the same file; use two different names.")
    started = time.perf_counter()
    from nlptx.data_quality.check import check as check_rows
    from nlptx.data_quality.rows import check_label_column, read_rows
    from nlptx.data_quality.uncertainty_sampling import check_possible, suggest_texts
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers
    from nlptx.training.labels import label_notes

    keep_freed_memory()
    note = common.reporter.note
    given_model = None if model is None else GivenModel(model, common)
    if given_model is not None:
        reading = with_separator(reading, given_model.model)
    with common.reporter.meter("reading") as meter, Workers(common.jobs, processes=True) as workers:
        rows = read_rows(data, reading, note, lambda documents: meter(None, f"{documents:,} texts"))
        check_label_column(rows, reading, note)
        for text in label_notes((label for labels in rows.labels for label in labels or ()), None):
            note(text)
        test_rows = read_rows(against, _for_test_data(reading, against), note, check_map=False) if against else None
        unlabelled_rows = read_rows(unlabelled, _for_unlabelled(reading), note) if unlabelled else None
        if suggest is not None:
            check_possible(rows, unlabelled_rows, has_model=given_model is not None)
        predict = None if given_model is None else partial(given_model.predict_labelled, workers=workers)
        if out_of_fold is not None:
            predict = partial(predictions_of_table, out_of_fold, reading=replace(reading, exclude=None), common=common)
        result = check_rows(
            rows,
            workers,
            test_rows,
            similarity,
            predict,
            cross_fit=out_of_fold is None,
            seed=seed,
            on_progress=lambda step, fraction: meter(fraction, "", title=step),
            on_note=note,
        )
        suggested = None
        if suggest is not None:
            meter(0.0, "", title="texts worth labelling")
            predict_texts = None if given_model is None else partial(given_model.predict, workers=workers)
            suggested = suggest_texts(rows, unlabelled_rows, suggest, workers, predict_texts)
    candidates = rows if unlabelled_rows is None else rows.followed_by(unlabelled_rows)
    notes = []
    with RaisedLater() as writing:
        if bad_rows is not None:
            notes.append(write_bad_rows(bad_rows, result))
        if to_label is not None and suggested is not None:
            notes.append(write_to_label(to_label, candidates, suggested, reading))
    if common.json:
        spent = cost(time.perf_counter() - started)
        print_json(
            {
                "data": list(data),
                **as_json(result, examples),
                **suggested_as_json(suggested, candidates),
                **spent,
            }
        )
    else:
        draw_check(list(data), result, examples, common.reporter)
        draw_suggested(suggested, candidates, common.reporter)
    for text in notes:
        note(text)
    writing.raise_error()
    _check_faults(result, fail_on)


def _for_test_data(reading: ReadOptions, names: tuple[str, ...]) -> ReadOptions:
    """Return the options for reading ``--against``.

    The delimiter is kept only if at least one file name ends in .csv or .tsv (before any compression suffix).
    """
    has_delimiter = any(format_by_name(name) in ("csv", "tsv") for name in names)
    delimiter = reading.delimiter if has_delimiter else None
    return replace(reading, splits=("test",), delimiter=delimiter, exclude=None)


def _for_unlabelled(reading: ReadOptions) -> ReadOptions:
    """Return the options for reading texts without using their labels."""
    without_labels = replace(reading, use_labels=False, label_separator=None, label_map={}, exclude=None)
    return replace(without_labels, splits=("unsup",), delimiter=None)


def _check_faults(result: Check, fail_on: tuple[str, ...]) -> None:
    """Raise QualityGateError if the data has a fault of a kind in ``fail_on``.

    "any" stands for all kinds of faults whose listed rows are all certainly faulty.
    """
    kinds = {kind for kind in KINDS if kind in fail_on or ("any" in fail_on and KINDS[kind].certain)}
    counts = {kind: result.number_of(kind) for kind in KINDS if kind in kinds}
    if faults := [f"{KINDS[kind].title} ({count:,})" for kind, count in counts.items() if count]:
        raise QualityGateError(f"the data has faults: {', '.join(faults)}")
