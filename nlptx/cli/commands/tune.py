"""``nlptx tune``."""

from __future__ import annotations

import math
import time
from contextlib import ExitStack
from dataclasses import fields
from typing import Any

import click
from click.core import ParameterSource

from nlptx.cli.options.cluster import ClusterOptions, cluster_options
from nlptx.cli.options.command import command, option
from nlptx.cli.options.inputs import check_not_an_input
from nlptx.cli.options.number_types import CountRange, NumberRange
from nlptx.cli.options.precedence import is_default
from nlptx.cli.options.shared import CommonOptions, common_options, output_option
from nlptx.cli.results.tuning_report import describe, draw_tuning, file_comments, tuning_as_json
from nlptx.cli.steps.experiment import ExperimentOptions, experiment_options, read_experiment
from nlptx.cli.terminal.reporter import print_json
from nlptx.cli.terminal.stop_signal import StopNote, Terminated
from nlptx.io.output_path import STDOUT, check_writable
from nlptx.runtime.resources import cost
from nlptx.settings import TrainSettings

# Options that determine the data and the starting point of training; the settings file contains them too.
_DATA_OPTIONS = (
    *("text_column", "label_column", "input_format", "delimiter", "split", "encoding_errors", "skip_bad", "exclude"),
    *("map", "weight_column", "label_separator", "unlabelled", "embeddings", "start", "lexicon"),
)


@command(stage="train")
@output_option("tuned.toml", "File for the settings, to be used with nlptx train --config.")
@option(
    "--minutes",
    type=NumberRange(0, min_open=True),
    default=10.0,
    show_default=True,
    help="Time for the search, in minutes.",
)
@option(
    "--rounds",
    type=CountRange(1),
    help="Stop after N rounds, each of which tries up to six new combinations of settings. Then there is no time "
    "limit unless --minutes is given, so the result does not depend on the speed of the machine.",
)
@option(
    "--measure",
    type=click.Choice(["log-loss", "accuracy"]),
    default="log-loss",
    show_default=True,
    help="What to optimise.",
)
@option("--texts", type=CountRange(0), default=10_000, show_default=True, help="Use at most N texts; 0: all texts.")
@option("--resume", is_flag=True, help="Continue a search from its checkpoint, which is stored beside the output.")
@experiment_options
@cluster_options
@common_options()
def tune(
    options: ExperimentOptions,
    seed: int,
    output: str,
    minutes: float,
    rounds: int | None,
    measure: str,
    texts: int,
    resume: bool,
    cluster: ClusterOptions,
    common: CommonOptions,
) -> None:
    """Search for better settings by cross-validation, and write a settings file.

    \b
    nlptx tune reviews.csv --minutes 60 --resume --epochs 3 --json
    nlptx tune reviews.csv --rounds 3

    Pass the settings file to nlptx train --config. The search starts from the default settings, or from the settings of
    --config, --preset and --effort, and tries changes to the settings of the word vectors, the n-grams, the network and
    the training: first changes that often help, then random changes, most of which a model of the results so far
    selects. Settings that you give as options are not changed. All options of nlptx train for the network, the n-grams
    and the training, except --checkpoint-minutes, are accepted, even if they are not listed here. All settings are
    evaluated on the same folds, and bad settings are dropped early. If no settings are better than the starting
    settings, the starting settings are written.

    The checkpoint is kept, so a search can be continued with --resume even after it has finished. --minutes limits the
    total time of a search, including the time before --resume.
    """
    if output == STDOUT:
        raise click.UsageError("-o needs a file name, because the checkpoint is kept beside the file.")
    if rounds is not None and not _is_given("minutes"):
        minutes = math.inf
    check_not_an_input(output, options.inputs)
    if output.lower().endswith(".npz"):
        raise click.UsageError(f"{output} would contain settings, not a model; name it *.toml.")
    check_writable(output)
    started = time.monotonic()
    from nlptx.experiments.journal import Journal
    from nlptx.experiments.settings_file import non_default, write_settings
    from nlptx.experiments.tuning import tune as search
    from nlptx.runtime.allocator import keep_freed_memory
    from nlptx.runtime.workers import Workers

    keep_freed_memory()
    name = measure.replace("-", "_")
    with Journal(output, resume, common.reporter.note, parts="runs") as journal:
        try:
            experiment, recipe, _ = read_experiment(options, common)
            if 0 < texts < len(experiment.texts):
                total, experiment = len(experiment.texts), experiment.sample(texts, seed)
                common.reporter.note(f"the search uses {len(experiment.texts):,} of {total:,} texts (--texts)")
            if cluster.dry_run:
                from nlptx.cli.cluster.training import print_experiment_plan

                print_experiment_plan(experiment, recipe, seed, None, cluster, common)
                return
            with ExitStack() as stack:
                perform_runs = None
                if cluster.address is not None:
                    from nlptx.cluster.experiments import runs_on

                    # Assign only one task per worker, because assigned tasks are completed even after the time limit.
                    workers = stack.enter_context(cluster.workers(output, [], common, per_worker=1))
                    perform_runs = runs_on(workers, experiment, recipe, seed)
                meter = stack.enter_context(common.reporter.meter("tuning"))
                result = search(
                    experiment,
                    recipe,
                    seconds=60 * minutes - (time.monotonic() - started),
                    rounds=rounds,
                    measure=name,
                    fixed=_fixed(),
                    seed=seed,
                    workers=Workers(common.jobs, processes=True),
                    perform_runs=perform_runs,
                    journal=journal,
                    on_run=lambda state, fraction: meter(min(fraction, 1.0), state),
                    on_best=lambda trial: meter(None, describe(trial, name), keep=True),
                )
        except (KeyboardInterrupt, Terminated) as error:
            if journal.can_resume and journal.path is not None:
                advice = f"--resume continues from {journal.path.name}"
                error.add_note(StopNote(f"{advice}; --resume --minutes 0.01 writes the best settings so far"))
            raise
        if result.exhausted:
            common.reporter.note("the search has ended, because no combinations of settings are left to try")
        write_settings(output, non_default(result.best.values) | _data_options(), file_comments(result))
    if not result.compared:
        common.reporter.note(
            f"the time was too short to compare any other settings; {output} contains the starting settings"
        )
    if common.json:
        print_json({"output": output, **tuning_as_json(result), **cost(result.seconds)})
    elif result.compared:
        draw_tuning(result, output, common.reporter)


def _data_options() -> dict[str, Any]:
    """Return the values of those options in _DATA_OPTIONS that were set."""
    context = click.get_current_context()
    given = (name for name in _DATA_OPTIONS if not is_default(name))
    return {f"train.{name}": context.params[name] for name in given}


def _fixed() -> list[str]:
    """Return the names of the settings that were given as options or environment variables."""
    return [f"train.{item.name}" for item in fields(TrainSettings) if _is_given(item.name)]


def _is_given(name: str) -> bool:
    given = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    return click.get_current_context().get_parameter_source(name) in given
