"""``nlptx train``."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import click

from nlptx.cli.options.cluster import ClusterOptions, cluster_options
from nlptx.cli.options.command import PATH, command, option
from nlptx.cli.options.config import config_option
from nlptx.cli.options.inputs import check_names, inputs_or_stdin
from nlptx.cli.options.number_types import NumberRange
from nlptx.cli.options.reading import reading_options, with_separator
from nlptx.cli.options.reading_checks import note_repeated_inputs, note_unused_options
from nlptx.cli.options.shared import (
    CommonOptions,
    common_options,
    effort_option,
    memory_options_in,
    preset_option,
    seed_option,
    settings_options,
)
from nlptx.cli.steps.earlier_stages import EarlierStages
from nlptx.cli.steps.labelled_data import check_labelled_data
from nlptx.cli.steps.model_card import read_card
from nlptx.cli.steps.seen_data import warn_if_start_is_trained_on
from nlptx.cli.steps.stage_run import StageRun, artifact_option
from nlptx.cli.steps.start import file_digest, load_start, load_vectors, start_option
from nlptx.cli.steps.training_result import save_model
from nlptx.cli.terminal.stop_signal import StopNote, StopSignal, Terminated
from nlptx.cli.terminal.training_progress import show, what_is_kept
from nlptx.corpus.lexicon import read_lexicon
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.training_data import TRAINING_SPLITS, read_training_data
from nlptx.settings import CHECKPOINT_MINUTES, TrainSettings

if TYPE_CHECKING:
    from nlptx.training.checkpoint import Checkpoint


@command()
@click.argument("data", nargs=-1, type=PATH, metavar="DATA...")
@option(
    "-e",
    "--embeddings",
    type=PATH,
    show_default="from DATA",
    metavar="FILE",
    help="File with word vectors, or a model file.",
)
@start_option
@artifact_option("model.npz", "File for the model; - for standard output.")
@option(
    "--unlabelled",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Unlabelled texts (of an archive, the unsup split).",
)
@option(
    "--valid",
    type=PATH,
    multiple=True,
    metavar="FILE",
    help="Validate on this file (of an archive, the test split).",
)
@option(
    "--lexicon",
    type=PATH,
    metavar="FILE",
    group="N-grams",
    help="Sentiment lexicon: per line, a word or phrase, a tab and a number.",
)
@option("--resume", is_flag=True, help="Continue from the checkpoint that Ctrl-C or a crash left behind.")
@option(
    "--checkpoint-minutes",
    type=NumberRange(0),
    default=CHECKPOINT_MINUTES,
    show_default=True,
    group="Training",
    help="Minutes between checkpoints; 0: one per epoch.",
)
@option(
    "--card",
    type=PATH,
    metavar="FILE",
    group="Output",
    help="JSON file to store as the model card, which nlptx info shows.",
)
@config_option
@preset_option
@effort_option
@settings_options(TrainSettings)
@seed_option
@memory_options_in("Data")
@reading_options(TRAINING_SPLITS, skip_bad=True, labelled=True, exclude=True, training=True)
@partial(cluster_options, group="Training")
@common_options()
def train(
    data: tuple[str, ...],
    embeddings: str | None,
    start: str | None,
    unlabelled: tuple[str, ...],
    valid: tuple[str, ...],
    lexicon: str | None,
    output: str,
    resume: bool,
    checkpoint_minutes: float,
    card: str | None,
    settings: TrainSettings,
    seed: int,
    memory: int,
    tmp_dir: str | None,
    cluster: ClusterOptions,
    reading: ReadOptions,
    common: CommonOptions,
) -> None:
    """Fit a classifier on labelled text: a table, or a folder or archive with a sub-folder per label.

    \b
    nlptx train reviews.csv -o model.npz
    nlptx train reviews.csv --start bundled --epochs 3 --lr 5e-4 -o model.npz
    """
    data = inputs_or_stdin(data)
    origin = start if embeddings is None else embeddings
    given = tuple(path for path in (*data, origin, *unlabelled, *valid, lexicon) if path is not None)
    check_names(*given)
    note_unused_options(common.reporter.note, data, *unlabelled, *valid)
    note_repeated_inputs(common.reporter.note, data)
    stage = StageRun(common, output, (*given, card, reading.exclude))
    common.reporter.detail(f"settings: {settings.to_dict()}")
    context = click.get_current_context()
    earlier_stages = EarlierStages(context, common.reporter) if origin is None else None
    stop = context.ensure_object(StopSignal)

    def stop_requested() -> bool:
        if not stop.requested():
            return False
        common.reporter.note("stopping: validating and saving the model; press Ctrl-C again to end without saving")
        return True

    checkpoint: Checkpoint | None = None
    try:
        from nlptx.io.memory_budget import MemoryBudget
        from nlptx.runtime.workers import Workers
        from nlptx.training.checkpoint import Checkpoint
        from nlptx.training.fit import fit

        with (
            Checkpoint(output, checkpoint_minutes, resume, common.reporter.note) as checkpoint,
            MemoryBudget(memory, tmp_dir) as budget,
        ):
            # The digests are computed now, because the files may change or vanish during training.
            digests = file_digest("start_sha256", start) | file_digest("lexicon_sha256", lexicon)
            digests |= file_digest("exclude_sha256", reading.exclude)
            model_card = read_card(card) if card else {}
            entries = read_lexicon(lexicon) if lexicon else None
            with common.reporter.meter("reading") as meter:
                meter(None, "word vectors" if embeddings else "")
                vectors = load_vectors(embeddings) if embeddings else None
                model_before = load_start(start, settings) if start else None
                reading = reading if model_before is None else with_separator(reading, model_before)
                training_data = read_training_data(
                    data,
                    unlabelled,
                    valid,
                    reading,
                    on_document=lambda documents: meter(None, f"{documents:,} texts"),
                    on_note=common.reporter.note,
                    budget=budget,
                )
            check_labelled_data(training_data, data, reading.label_separator)
            warn_if_start_is_trained_on(training_data, model_before, common.reporter)
            vector_source = (
                earlier_stages.builder(settings.epochs, training_data.left_out, training_data.corpus)
                if earlier_stages
                else vectors
            )
            if cluster.dry_run:
                from nlptx.cli.cluster.training import print_training_plan

                print_training_plan(training_data, vector_source, model_before, settings, seed, memory, cluster, common)
                return
            local = nullcontext(Workers(common.jobs, processes=True))
            pool = local if cluster.address is None else cluster.workers(output, [], common)
            with pool as workers, common.reporter.meter("training") as meter:
                model = fit(
                    training_data.texts,
                    training_data.labels,
                    vector_source,
                    settings,
                    start=model_before,
                    valid=training_data.valid,
                    unlabelled=training_data.unlabelled,
                    sample_weight=training_data.weights,
                    lexicon=entries,
                    label_separator=reading.label_separator,
                    seed=seed,
                    jobs=workers,
                    on_progress=lambda progress: show(progress, meter),
                    on_note=common.reporter.note,
                    stop=stop_requested,
                    checkpoint=checkpoint,
                    memory=memory,
                    tmp_dir=tmp_dir,
                )
            model.source, model.card = training_data.source | digests, model_card
            save_model(model, training_data, stage, checkpoint, earlier_stages.facts if earlier_stages else {})
    except (KeyboardInterrupt, Terminated) as error:
        error.add_note(StopNote(what_is_kept(stop, checkpoint)))
        raise
    if model.history["interrupted"]:
        sys.exit(stop.exit_code)
