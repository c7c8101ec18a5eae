"""``nlptx compare``."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.inputs import check_names
from nlptx.cli.options.number_types import CountRange
from nlptx.cli.options.page import check_page, report_option, this_command
from nlptx.cli.options.prediction_format import check_table_output
from nlptx.cli.options.reading import reading_options, with_separator
from nlptx.cli.options.reading_checks import note_unused_options
from nlptx.cli.options.shared import BUNDLED, CommonOptions, common_options
from nlptx.cli.results.comparison_report import draw_comparison, draw_examples, write_disagreements
from nlptx.cli.steps.seen_data import cautions, seen_in
from nlptx.cli.terminal.reporter import print_json
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError, SettingsError

if TYPE_CHECKING:
    from nlptx.evaluation.labelled_predictions import LabelledPredictions

# With fewer than this number of groups, bootstrap intervals are much too narrow.
_FEW_GROUPS = 10


@command()
@click.argument("inputs", nargs=-1, type=PATH, metavar="A B... [DATA]", required=True)
@option(
    "--group",
    metavar="NAME",
    help="Column with the group of each text, such as its author; texts of a group are treated as dependent.",
)
@option(
    "--show",
    type=CountRange(0),
    default=0,
    metavar="N",
    help="For each model after the first, show N texts that only it labels correctly, and N that only the first does.",
)
@option("--disagreements", type=PATH, metavar="FILE", help="Write a table of texts that the models label differently.")
@report_option
@reading_options(("test",), skip_bad=True, labelled=True, exclude=True, separator=True)
@common_options(json_help="Print the comparison as one JSON object.")
def compare(
    inputs: tuple[str, ...],
    group: str | None,
    show: int,
    disagreements: str | None,
    report: str | None,
    reading: ReadOptions,
    common: CommonOptions,
) -> None:
    """Test which of several models predicts best.

    \b
    nlptx compare old.npz new.npz test.tsv
    nlptx compare model.npz sklearn.csv llm.jsonl --show 5

    A and B each name a model: a file written by nlptx train, "bundled" for the bundled model, or a table with the
    predictions of a model from another program. A table of predictions has the columns text, label (the true label),
    predicted, and, if known, prob_LABEL for each label. DATA contains the labelled texts; it may be omitted if A or B
    is a table that also contains true labels. All models are compared on the same texts.

    The report gives the accuracy (for multi-label models, the subset accuracy), macro-F1, log-loss and calibration
    of each model, the differences from the first model with 95% bootstrap intervals, the number of texts that only
    one model labels correctly, and McNemar's exact test. If there are more than two models, the p-values are
    corrected by Holm's method. The report also says whether one model is better, or how many texts would be needed
    to show a difference of the observed size.

    --report FILE writes a page with the differences, the calibration of each model, and texts that only one of two
    models labels correctly. --report needs the report extra: pip install 'nlptx[report]'.

    With --group, texts of the same group are treated as dependent: whole groups are resampled for the intervals, and a
    sign-flip test on the groups replaces McNemar's test. If a table contains predictions for several seeds, such as a
    table from nlptx crossvalidate --seeds, the rows of each text are treated as a group.
    """
    check_names(*inputs)
    if disagreements is not None:
        check_table_output("--disagreements", disagreements, inputs)
    check_page(report, inputs)
    from nlptx.evaluation.alignment import align
    from nlptx.evaluation.comparison import compare_predictions, group_numbers
    from nlptx.evaluation.differences import examples
    from nlptx.evaluation.groups import group_values
    from nlptx.evaluation.significance import LEVEL
    from nlptx.evaluation.verdict import verdict
    from nlptx.runtime.allocator import keep_freed_memory

    keep_freed_memory()
    unaligned, seen, reading = _predictions(inputs, reading, common)
    predictions = align(unaligned, common.reporter.note)
    notes = cautions(tuple(seen), seen)

    def note(text: str) -> None:
        notes.append(text)
        common.reporter.note(text)

    group_names = (
        _texts_of_seeds(predictions[0], note) if group is None else group_values(group, predictions[0].documents, note)
    )
    groups = None if group_names is None else group_numbers(group_names)
    comparison = compare_predictions(predictions, groups)
    if comparison.groups is not None and comparison.groups < _FEW_GROUPS:
        # The smallest p-value of the sign-flip test is 2 / 2^groups, before the correction for several comparisons.
        is_possible = 2 / 2**comparison.groups * len(comparison.pairs) < LEVEL
        note(
            f"with only {comparison.groups} groups, the intervals are too narrow"
            + ("" if is_possible else ", and no difference can be significant")
        )
    verdicts = [" ".join([verdict(pair), *cautions((pair.first, pair.second), seen)]) for pair in comparison.pairs]
    if disagreements is not None:
        write_disagreements(disagreements, predictions, reading.label_separator)
    if report is not None:
        from nlptx.report.comparison_page import write_comparison_page

        write_comparison_page(report, comparison, predictions, inputs, notes, this_command())
        common.reporter.note(f"report -> {report}")
    if common.json:
        result: dict[str, Any] = asdict(comparison) | {"differences": comparison.differences.tolist()}
        for pair, sentence in zip(result["pairs"], verdicts, strict=True):
            pair["verdict"] = sentence
        if show:
            result["examples"] = [
                {"correct": correct, "wrong": wrong, "texts": texts}
                for correct, wrong, texts in examples(predictions, show)
            ]
        print_json(result | {"seen_in": seen})
    else:
        draw_comparison(comparison, verdicts, common.reporter)
        draw_examples(predictions, show, common.reporter)


def _predictions(
    inputs: tuple[str, ...], reading: ReadOptions, common: CommonOptions
) -> tuple[list[LabelledPredictions], dict[str, str | None], ReadOptions]:
    """Return the predictions of each model, how each nlptx model has used the data, and the reading options.

    The use of the data is "training", "validation", or None if the model has not used the data. The reading options
    include the label separator of a multi-label model.
    """
    from nlptx.classifier.model import Model
    from nlptx.corpus.label_map import label_map_notes
    from nlptx.evaluation.alignment import check_same_kind
    from nlptx.evaluation.file_kind import has_predictions, has_true_labels, is_model, is_table
    from nlptx.evaluation.labelled_data import read_labelled
    from nlptx.evaluation.labelled_predictions import predict_labelled, scorer
    from nlptx.evaluation.prediction_file import read_predictions
    from nlptx.runtime.workers import Workers

    for name in inputs:
        if name not in (BUNDLED, "-") and not os.path.exists(name):
            raise SettingsError(f"{name}: no such file or folder")
    *sources, last = inputs
    for name in sources:
        if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
            raise SettingsError(f"{name}: a pipe can be read only once", hint="Write its content to a file first.")
    if "-" in sources:
        raise SettingsError("only the labelled texts (the last argument) can be read from standard input")
    after_models = len(sources) > 1 and not any(map(is_table, sources))
    is_data = last != BUNDLED and not is_model(last) and not has_predictions(last, reading, after_models=after_models)
    if is_data and has_predictions(last, reading):
        common.reporter.note(
            f"{last} is read as the labelled texts, so its column 'label' is not compared; to compare this"
            " column too, rename it to 'predicted'"
        )
    sources = sources if is_data else [*sources, last]
    if len(sources) < 2:
        raise click.UsageError("there is nothing to compare: name two or more models or tables of predictions.")
    distinct = list(dict.fromkeys(sources))
    _check_that_data_is_last(inputs, distinct, is_data, reading)
    tables = [name for name in distinct if name != BUNDLED and is_table(name)]
    if len(sources) > 2 and tables == [last]:
        common.reporter.note(
            f"{last} contains predictions, which are compared with those of the models; to use only its texts and"
            " labels, remove or rename the columns with predictions"
        )
    models = {name: Model.load(None if name == BUNDLED else name) for name in distinct if name not in tables}
    check_same_kind((name, model.multi_label is not None) for name, model in models.items())
    for model in models.values():
        reading = with_separator(reading, model)
    if not tables:
        if not is_data:
            raise click.UsageError("labelled data is needed to compare models: give its file as the last argument.")
        note_unused_options(common.reporter.note, [last])
    data = read_labelled([last], reading, common.reporter.note, check_map=not tables) if is_data else None
    predictions, found_labels = {}, set[str]()
    read = partial(read_predictions, reading=reading, on_note=common.reporter.note, found_labels=found_labels)
    if data is None:  # use the texts of the first table with true labels; other tables may lack labels
        labelled = [name for name in tables if has_true_labels(name, reading)] or tables
        predictions = {name: read(name) for name in labelled}
        data = predictions[labelled[0]].as_data(reading.label_map)
    for name in tables:
        if name not in predictions:
            predictions[name] = read(name, data=data)
    if tables:
        for note in label_map_notes(reading.label_map, found_labels | set(data.replaced)):
            common.reporter.note(note)
    seen = {name: seen_in(model, data) for name, model in models.items()}
    with Workers(common.jobs, processes=True) as workers:
        for name, model in models.items():
            predictions[name] = predict_labelled(model, name, data, scorer(model, workers), common.reporter.note)
    return [predictions[name] for name in sources], seen, reading


def _check_that_data_is_last(inputs: tuple[str, ...], sources: list[str], is_data: bool, reading: ReadOptions) -> None:
    """Raise DataError if one of ``sources`` contains labelled texts but no predictions to compare."""
    for name in sources:
        if name != BUNDLED and (os.path.isdir(name) or (not is_data and _is_only_data(name, reading))):
            others = " ".join(shlex.quote(other) for other in inputs if other != name)
            raise DataError(
                "this is neither a model nor a table of predictions; labelled texts must be the last argument",
                where=name,
                hint=f"Use: nlptx compare {others} {shlex.quote(name)}. A table of predictions needs a column"
                " 'predicted', or a column prob_LABEL per label.",
            )


def _is_only_data(name: str, reading: ReadOptions) -> bool:
    """Return whether a file is a table without predictions."""
    from nlptx.evaluation.file_kind import has_predictions, is_table

    return is_table(name) and not has_predictions(name, reading)


def _texts_of_seeds(predictions: LabelledPredictions, on_note: Callable[[str], None]) -> list[str] | None:
    """If the table has predictions for several seeds, return the text of each row as its group; otherwise, None."""
    from nlptx.evaluation.seeds import seeds_note, texts_of_seeds

    texts = texts_of_seeds(predictions.documents)
    if texts is not None:
        on_note(seeds_note(texts, "the rows of a text are treated as dependent"))
    return texts
