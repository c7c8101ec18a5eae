"""``nlptx crossvalidate``."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from nlptx.cli.options.cluster import ClusterOptions, cluster_options
from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.number_types import CountRange, NumberRange
from nlptx.cli.options.page import check_page, report_option, this_command
from nlptx.cli.options.prediction_format import check_table_output
from nlptx.cli.options.shared import CommonOptions, common_options
from nlptx.cli.results.fold_predictions import write_predictions
from nlptx.cli.steps.experiment import ExperimentOptions, experiment_options, read_experiment
from nlptx.cli.steps.quality_gate import check_accuracy
from nlptx.cli.terminal.reporter import Reporter, print_json
from nlptx.cli.terminal.stop_signal import StopNote, Terminated
from nlptx.io.output_path import STDOUT
from nlptx.runtime.resources import cost

if TYPE_CHECKING:
    from nlptx.experiments.crossvalidation import CrossValidation
    from nlptx.experiments.fold import FoldResult
    from nlptx.training.progress import Progress

_TITLES = {"accuracy": "accuracy", "macro_f1": "macro-F1", "log_loss": "log-loss", "ece": "ECE"}


@command(stage="train")
@option(
    "--seeds",
    type=CountRange(1),
    default=1,
    show_default=True,
    help="Repeat everything with N seeds: S, S + 1, ..., where S is --seed.",
)
@option("--predictions", type=PATH, metavar="FILE", help="Write the predictions to a table (.csv, .tsv or .jsonl).")
@option(
    "--resume",
    is_flag=True,
    help="Skip the folds that an interrupted run with the same --predictions FILE has finished.",
)
@report_option
@option("--min-accuracy", type=NumberRange(0, 1), help="Exit with code 5 if the mean accuracy is below X.")
@experiment_options
@cluster_options
@common_options(json_help="Print the results as one JSON object.")
def crossvalidate(
    options: ExperimentOptions,
    seed: int,
    seeds: int,
    predictions: str | None,
    resume: bool,
    min_accuracy: float | None,
    report: str | None,
    cluster: ClusterOptions,
    common: CommonOptions,
) -> None:
    """Train and test on different parts of the data in turn.

    \b
    nlptx crossvalidate reviews.csv --folds 10
    nlptx crossvalidate reviews.csv --group author --predictions predictions.csv --json

    The texts are split into folds, and each label is spread evenly over the folds. For each fold, a model is trained on
    all other folds and tested on that fold. Unless -e or --start is given, word vectors and n-grams are made from the
    folds that the model is trained on and from unlabelled texts, but never from the fold that is tested. The word
    vectors also use rows that are left out, for example by --skip-bad. All options of nlptx train for the network, the
    n-grams and the training, except --checkpoint-minutes, are accepted, even if they are not listed here. Unless
    --group or --shuffle is given, neighbouring texts stay together, because they are often related: the texts of each
    label, in the order of the file, are divided into stretches of up to 100 texts, and each stretch is assigned to one
    fold.

    For each measure, the output contains the mean over all folds, and the 95% interval of the mean, which takes the
    overlap of the training sets into account (Nadeau and Bengio 2003).

    --report FILE writes a page with the results of the folds, and with figures about the out-of-fold predictions.
    --report needs the report extra: pip install 'nlptx[report]'.

    --predictions writes a table with the columns of DATA, followed by these columns: predicted, confidence,
    prob_<label>, fold and seed.
    """
    if predictions is None and resume:
        raise click.UsageError("--resume needs --predictions FILE, because the finished folds are stored beside FILE.")
    if predictions is not None:
        check_table_output("--predictions", predictions, options.inputs)
    check_page(report, options.inputs)
    started = time.perf_counter()
    from nlptx.experiments.crossvalidation import cross_validate
    from nlptx.experiments.journal import Journal
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers

    keep_freed_memory()
    total, done = options.folds * seeds, 0
    with Journal(predictions, resume, common.reporter.note, parts="folds") as journal:
        try:
            experiment, recipe, documents = read_experiment(options, common)
            if cluster.dry_run:
                from nlptx.cli.cluster.training import print_experiment_plan

                print_experiment_plan(experiment, recipe, seed, total, cluster, common)
                return
            with ExitStack() as stack:
                run_folds = None
                if cluster.address is not None:
                    from nlptx.cluster.experiments import folds_on

                    workers = stack.enter_context(cluster.workers(predictions or STDOUT, [], common))
                    run_folds = folds_on(workers, experiment, recipe)
                meter = stack.enter_context(common.reporter.meter("cross-validation"))

                def show_progress(progress: Progress) -> None:
                    meter(
                        done / total,
                        f"{progress.title}  {progress.detail}".rstrip(),
                        title=_fold_title(done, options.folds, seeds),
                    )

                def show_fold(fold: FoldResult) -> None:
                    nonlocal done
                    state = f"accuracy {fold.measures.accuracy:.2%}  log-loss {fold.measures.log_loss:.4f}"
                    meter(
                        done / total,
                        f"{state}  {fold.seconds:.0f} s",
                        keep=True,
                        title=_fold_title(done, options.folds, seeds),
                    )
                    done += 1

                result = cross_validate(
                    experiment,
                    recipe,
                    seeds=range(seed, seed + seeds),
                    workers=Workers(common.jobs, processes=True),
                    run_folds=run_folds,
                    journal=journal,
                    on_fold=show_fold,
                    on_progress=show_progress,
                    on_note=common.reporter.note,
                )
            if predictions is not None:
                with journal.advice_on_failure():
                    renamed = write_predictions(predictions, result, documents)
                for name, new_name in renamed.items():
                    common.reporter.note(
                        f"the input already has a column {name!r}, so the added column is {new_name!r}"
                    )
            if report is not None:
                from nlptx.report.crossvalidation_page import write_crossvalidation_page

                write_crossvalidation_page(report, result, documents, options.data, this_command())
                common.reporter.note(f"report -> {report}")
        except (KeyboardInterrupt, Terminated) as error:
            if journal.can_resume and journal.path is not None:
                kept = f"{done} of {total} folds are finished; --resume continues from {journal.path.name}"
                error.add_note(StopNote(kept))
            raise
        journal.remove()
    seconds = time.perf_counter() - started
    if common.json:
        print_json({"data": list(options.data), **_as_json(result), **cost(seconds)})
    else:
        _draw(result, common.reporter)
    accuracy = round(result.spread()["accuracy"].mean, 12)  # the mean of several numbers has rounding errors
    check_accuracy(accuracy, min_accuracy, "mean accuracy")


def _fold_title(done: int, folds: int, seeds: int) -> str:
    """Return the title of the next fold. ``done`` is the number of completed folds, summed over the seeds."""
    fold = f"fold {done % folds + 1} of {folds}"
    return fold if seeds == 1 else f"seed {done // folds + 1} of {seeds}, {fold}"


def _as_json(result: CrossValidation) -> dict[str, Any]:
    """Return the results as JSON values: each measure's mean and 95% interval, and the results of each fold."""
    spread = result.spread()
    folds = [
        {
            "seed": fold.seed,
            "fold": fold.fold + 1,
            "texts": len(fold.rows),
            **fold.measures._asdict(),
            "seconds": fold.seconds,
            "parameters": fold.parameters,
        }
        for fold in result.results
    ]
    return {
        "texts": len(result.experiment.texts),
        "labels": result.experiment.label_names,
        **{name: measure.mean for name, measure in spread.items()},
        "interval": [spread["accuracy"].low, spread["accuracy"].high],
        "measures": {name: measure._asdict() for name, measure in spread.items()},
        "parameters": max(fold.parameters for fold in result.results),
        "folds": folds,
    }


def _draw(result: CrossValidation, reporter: Reporter) -> None:
    """Print the results as tables."""
    titles = _TITLES if result.experiment.separator is None else _TITLES | {"accuracy": "subset accuracy"}
    rows = [
        (str(fold.seed), str(fold.fold + 1), len(fold.rows), *_cells(fold.measures._asdict()), f"{fold.seconds:.1f}")
        for fold in result.results
    ]
    reporter.table("folds", ("seed", "fold", "texts", *titles.values(), "seconds"), rows)
    spread = result.spread()
    summary = [
        (titles[name], _cell(name, measure.mean), _cell(name, measure.std), _interval(name, measure.low, measure.high))
        for name, measure in spread.items()
    ]
    reporter.table("over all folds", ("measure", "mean", "standard deviation", "95% interval of the mean"), summary)


def _cells(measures: dict[str, float]) -> list[str]:
    return [_cell(name, measures[name]) for name in _TITLES]


def _cell(name: str, value: float) -> str:
    return f"{value:.2%}" if name in ("accuracy", "ece") else f"{value:.4f}"


def _interval(name: str, low: float, high: float) -> str:
    return f"{_cell(name, low)} to {_cell(name, high)}"
