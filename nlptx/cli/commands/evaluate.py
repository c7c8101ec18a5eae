"""``nlptx evaluate``."""

from __future__ import annotations

import os
import time
from functools import partial

import click

from nlptx.cli.options.abstention import Abstention, abstention_options, draw_coverage
from nlptx.cli.options.cluster import ClusterOptions, cluster_options
from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.conflicts import Conflict
from nlptx.cli.options.inputs import check_names, inputs_or_stdin
from nlptx.cli.options.number_types import NumberRange
from nlptx.cli.options.page import by_option, check_page, report_option, this_command
from nlptx.cli.options.precedence import is_on_command_line
from nlptx.cli.options.reading import reading_options, with_separator
from nlptx.cli.options.reading_checks import note_repeated_inputs, note_unused_options
from nlptx.cli.options.shared import BUNDLED, CommonOptions, common_options, model_option
from nlptx.cli.results.evaluation_report import as_json, draw_groups, draw_report, groups_as_json
from nlptx.cli.results.output_file import RaisedLater
from nlptx.cli.steps.evaluate_table import evaluate_table, is_table
from nlptx.cli.steps.quality_gate import check_accuracy
from nlptx.cli.steps.seen_data import SEEN, seen_in
from nlptx.cli.terminal.reporter import print_json
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import CorruptError, DataError
from nlptx.runtime.resources import cost

# End of the note about texts without a known word: how these texts are treated.
_UNKNOWN = "scored with the label frequencies in the training data"
_NEEDS_MODEL = Conflict(
    "{1} needs a model, but {0} is a table of predictions.", lambda model, _: is_table(model), always_refuse=True
)


@command()
@click.argument("data", nargs=-1, type=PATH, metavar="[DATA...]")
@partial(model_option, excludes=dict.fromkeys(("abstain", "max_error", "cluster"), _NEEDS_MODEL))
@option("--min-accuracy", type=NumberRange(0, 1), help="Exit with code 5 if the accuracy is below X.")
@abstention_options
@option(
    "--plot",
    type=PATH,
    metavar="FILE",
    help="Draw calibration and coverage in a .png, .svg or .pdf file (needs nlptx[plot]).",
)
@by_option
@option(
    "--label-order",
    type=click.Choice(["auto", "none"]),
    default="auto",
    show_default=True,
    group="Data",
    help="auto: treat numeric labels in a table of predictions as ordered.",
)
@report_option
@cluster_options
@reading_options(("test",), skip_bad=True, labelled=True, exclude=True, separator=True)
@common_options(json_help="Print the report as one JSON object.")
def evaluate(
    data: tuple[str, ...],
    model: str | None,
    min_accuracy: float | None,
    abstention: Abstention,
    plot: str | None,
    by: tuple[str, ...],
    label_order: str,
    report: str | None,
    cluster: ClusterOptions,
    reading: ReadOptions,
    common: CommonOptions,
) -> None:
    """Compare predictions with true labels.

    \b
    nlptx evaluate -m model.npz test.tsv --report report.html
    nlptx evaluate -m model.npz aclImdb.tar.gz --json --min-accuracy 0.9

    The report gives the model, its training seed, the data, the accuracy with its 95% interval, balanced accuracy
    (mean recall of the labels that the texts have), macro-F1 (mean F1 of these labels), ROC-AUC, log-loss, calibration
    error (ECE), the precision, recall and F1 of each label, and the confusion matrix or, with more than 12 labels, the
    most frequent errors. For comparison, the report gives the calibration error that a perfectly calibrated model would
    have by chance on the same number of texts. The report also gives the number of texts without a known word. For such
    a text, the probability of each label is the fraction of the training texts with this label. The most frequent label
    is predicted or, by a multi-label model, every label whose fraction reaches its threshold.

    The table of accuracy against coverage shows how accurate the predictions are if only the texts with the highest
    confidence are labelled; coverage is the fraction of the texts that are labelled. AURC is the error rate averaged
    over all values of the coverage. --plot draws accuracy against coverage as a curve, and a reliability diagram, which
    shows the accuracy at each confidence. In the reliability diagram of a perfectly calibrated model, the accuracy
    equals the confidence. --abstain and --max-error work as in nlptx predict. With either option, --min-accuracy and
    the measures refer only to the texts that get a label; AURC and the table and curve of accuracy against coverage
    still refer to all texts.

    --by COLUMN adds, for each value of a column, the accuracy on the texts with this value. --report FILE writes a page
    with figures, the errors with the highest confidence and the texts with the lowest confidence. If -m is a model, the
    words in these texts, except in long ones, are coloured by their effect on the prediction. The report page is one
    file that loads nothing from the internet. --report needs the report extra: pip install 'nlptx[report]'.

    For a multi-label model, accuracy (also for --min-accuracy) is subset accuracy: the fraction of the texts whose
    labels are all correct. The report on a multi-label model also contains micro-F1 and the threshold of each label.

    Instead of a model, -m also accepts a table with the predictions of any program. A table of predictions has the
    columns text, label (the true label), predicted, and optionally, for each label, its probability in a column
    prob_LABEL. DATA is not needed if -m is a table with true labels. Numeric labels in a table are treated as ordered.
    If there are three or more of them, the report contains the mean absolute error of the predictions; use
    --label-order none if the order of the numbers has no meaning.
    """
    started = time.perf_counter()
    check_page(report, [*data, model])
    if model is not None and is_table(model):
        check_names(*data, model)
        evaluate_table(data, model, min_accuracy, plot, by, label_order, report, reading, common)
        return
    if model == "-" and not data:
        raise click.UsageError(
            "a table of predictions cannot be read from standard input; name its file. A model can be read from"
            " standard input if DATA is given."
        )
    data = inputs_or_stdin(data)
    check_names(*data, model)
    note_unused_options(common.reporter.note, data)
    note_repeated_inputs(common.reporter.note, data)
    import numpy as np

    from nlptx.classifier.model import Model
    from nlptx.cli.results.known_words import KnownWords
    from nlptx.evaluation.coverage import CoverageCurve
    from nlptx.evaluation.evaluate import evaluate_probabilities
    from nlptx.evaluation.file_kind import has_predictions
    from nlptx.evaluation.groups import accuracy_by_group, column_values
    from nlptx.evaluation.labelled_data import read_labelled
    from nlptx.evaluation.labelled_predictions import predict_labelled, scorer
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers

    keep_freed_memory()
    if plot is not None:
        from nlptx.plots import check_picture_path, plot_evaluation

        check_picture_path(plot)
    try:
        classifier = Model.load(model)
    except CorruptError as error:
        if model is not None and not os.path.isfile(model):
            error.hint = "A table of predictions cannot be read from a pipe; write it to a file, and name the file."
        raise
    # --label-order from an environment variable is ignored here, because the variable is meant for tables.
    if is_on_command_line("label_order") and label_order != "auto":
        raise click.UsageError(
            f"--label-order {label_order} needs a table of predictions (-m); a model stores the order of its labels."
        )
    threshold = abstention.threshold(classifier, common.reporter.note)
    for path in data if model is None else ():
        if has_predictions(path, reading):
            common.reporter.note(
                f"{path} seems to contain predictions, but the bundled model is evaluated; to evaluate the"
                f" predictions, add -m {path}"
            )
    labelled = read_labelled(data, with_separator(reading, classifier), common.reporter.note)
    columns = {column: np.array(column_values(column, labelled.documents), object) for column in by}
    known_words = KnownWords()
    with Workers(common.jobs, processes=True) as workers:
        score_texts = scorer(classifier, workers)
        if cluster.address is not None:
            from nlptx.cli.cluster.evaluate import print_evaluation_plan, score_texts_on_cluster

            if cluster.dry_run:
                print_evaluation_plan([document.text for document in labelled.documents], classifier, cluster, common)
                return
            score_texts = partial(score_texts_on_cluster, model=model, cluster=cluster, common=common)
        predictions = predict_labelled(
            classifier, model or BUNDLED, labelled, score_texts, common.reporter.note, on_scored=known_words.add
        )
    confidence = np.where(predictions.known_words, predictions.confidence, 0.0)
    answered = (confidence >= threshold) & (predictions.known_words > 0) | (not abstention.is_given)
    if not answered.any():
        raise DataError(
            f"there is nothing to evaluate: no text has a confidence of {threshold:g} or more",
            hint="Lower `abstain`, or raise `max_error`.",
        )
    curve = CoverageCurve.of(confidence, predictions.correct)
    kept = predictions.take(answered)
    measured = evaluate_probabilities(classifier, kept.probabilities, kept.targets, classifier.label_names)
    groups = {column: accuracy_by_group(values[answered].tolist(), kept.correct) for column, values in columns.items()}
    seen = seen_in(classifier, labelled)
    subject = {"model": model or BUNDLED, "data": list(data), "seed": classifier.seed}
    with RaisedLater() as writing:
        if plot is not None:
            plot_evaluation(curve, kept.confidence, kept.correct, plot)
        if report is not None:
            from nlptx.report.evaluation_page import Evaluation, write_evaluation_page

            notes = [*known_words.notes(_UNKNOWN), *([SEEN[seen]] if seen else [])]
            evaluation = Evaluation(
                predictions,
                measured,
                data,
                labelled.sha256,
                classifier,
                answered,
                groups,
                notes,
                this_command(),
            )
            with Workers(common.jobs, processes=True) as workers:
                write_evaluation_page(report, evaluation, workers)
    if common.json:
        about_data = {
            "unknown_texts": known_words.unknown,
            "seen_in": seen,
            "confidence": threshold if abstention.is_given else None,
            "coverage": float(answered.mean()),
            "coverage_curve": [point._asdict() for point in curve.table()],
            "aurc": curve.aurc,
        }
        print_json(
            {
                **subject,
                **as_json(measured),
                **groups_as_json(groups),
                **about_data,
                **cost(time.perf_counter() - started),
            }
        )
    else:
        if abstention.is_given:
            subject["labelled"] = f"{answered.mean():.2%} of {len(answered):,}, confidence at least {threshold:g}"
        draw_report(subject, measured, known_words.unknown, common.reporter)
        draw_groups(groups, common.reporter)
        draw_coverage(curve, common.reporter)
    if report is not None and writing.error is None:
        common.reporter.note(f"report -> {report}")
    for note in known_words.notes(_UNKNOWN):
        common.reporter.note(note)
    if seen:
        common.reporter.note(SEEN[seen])
    writing.raise_error()
    check_accuracy(measured.accuracy, min_accuracy)
