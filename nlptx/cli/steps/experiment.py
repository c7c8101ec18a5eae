"""The options of ``crossvalidate`` and ``tune`` that describe an experiment, and a function that reads its data."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from nlptx.cli.options.command import PATH, option
from nlptx.cli.options.config import config_option, note_ignored
from nlptx.cli.options.inputs import check_names, inputs_or_stdin
from nlptx.cli.options.number_types import CountRange
from nlptx.cli.options.reading import reading_options, with_separator
from nlptx.cli.options.reading_checks import note_repeated_inputs, note_unused_options
from nlptx.cli.options.shared import CommonOptions, effort_option, preset_option, seed_option, settings_options
from nlptx.cli.steps.earlier_stages import EarlierStages
from nlptx.cli.steps.labelled_data import check_labelled_data
from nlptx.cli.steps.seen_data import warn_if_start_is_trained_on
from nlptx.cli.steps.start import load_start, load_vectors, start_option
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.training_data import TRAINING_SPLITS
from nlptx.settings import TrainSettings

if TYPE_CHECKING:
    from nlptx.corpus.document import Document
    from nlptx.embeddings.embeddings import Embeddings
    from nlptx.experiments.experiment import Experiment, Recipe
    from nlptx.training.embedding_builder import EmbeddingBuilder

Function = Callable[..., Any]

# Options of ``train`` in a --config file that are ignored without a note, because they cannot change an experiment.
_WITHOUT_EFFECT = {"card", "checkpoint_minutes", "memory", "output", "tmp_dir"}


class ExperimentOptions(NamedTuple):
    """Values of the options that describe an experiment."""

    data: tuple[str, ...]
    embeddings: str | None
    start: str | None
    unlabelled: tuple[str, ...]
    lexicon: str | None
    folds: int
    group: str | None
    shuffle: bool
    settings: TrainSettings
    reading: ReadOptions

    @property
    def inputs(self) -> tuple[str, ...]:
        """All paths that the experiment reads."""
        paths = (*self.data, self.embeddings, self.start, *self.unlabelled, self.lexicon, self.reading.exclude)
        return tuple(path for path in paths if path is not None)


def experiment_options(function: Function) -> Function:
    """Add the options for texts, folds and training to a command, which receives their values as ``options``."""

    @click.argument("data", nargs=-1, type=PATH, metavar="DATA...")
    @option("--folds", type=CountRange(2), default=5, show_default=True, help="Number of folds.")
    @option("--group", metavar="NAME", help="Keep rows with the same value in this column in the same fold.")
    @option(
        "--shuffle",
        is_flag=True,
        group="Data",
        excludes={"group": "{1} keeps rows together, and {0} separates them; use only one of them."},
        help="Assign the texts to folds one by one at random, not in stretches of consecutive texts.",
    )
    @option(
        "-e",
        "--embeddings",
        type=PATH,
        show_default="made from the training folds",
        metavar="FILE",
        help="File with word vectors from nlptx pca or word2vec, or a model file.",
    )
    @start_option
    @option("--unlabelled", type=PATH, multiple=True, metavar="FILE", help="Unlabelled texts to learn from.")
    @option(
        "--lexicon",
        type=PATH,
        metavar="FILE",
        group="N-grams",
        help="Sentiment lexicon, a prior of the n-gram weights; see nlptx train --help.",
    )
    @config_option
    @preset_option
    @effort_option
    @settings_options(TrainSettings, only_main=True)
    @seed_option
    @reading_options(TRAINING_SPLITS, skip_bad=True, labelled=True, exclude=True, training=True)
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        values = {name: kwargs.pop(name) for name in ExperimentOptions._fields}
        options = ExperimentOptions(**{**values, "data": inputs_or_stdin(values["data"])})
        check_names(*options.inputs)
        return function(*args, options=options, **kwargs)

    return wrapped


def read_experiment(options: ExperimentOptions, common: CommonOptions) -> tuple[Experiment, Recipe, list[Document]]:
    """Return the experiment, the :class:`Recipe` of its models, and the :class:`Document` of each text.

    Raises:
        DataError, ArtifactError: a file cannot be used.
        click.UsageError: options contradict each other.
    """
    note_unused_options(common.reporter.note, options.data, *options.unlabelled)
    note_repeated_inputs(common.reporter.note, options.data)
    common.reporter.detail(f"settings: {options.settings.to_dict()}")
    context = click.get_current_context()
    used = {str(parameter.name) for parameter in context.command.params}
    note_ignored(context, common.reporter, "train", used | _WITHOUT_EFFECT)
    earlier_stages = EarlierStages(context, common.reporter) if options.embeddings is options.start is None else None
    from nlptx.corpus.lexicon import read_lexicon
    from nlptx.corpus.training_data import read_training_data
    from nlptx.evaluation.groups import group_values
    from nlptx.experiments.experiment import Experiment, Recipe

    lexicon = read_lexicon(options.lexicon) if options.lexicon else {}
    with common.reporter.meter("reading") as meter:
        vectors = load_vectors(options.embeddings) if options.embeddings else None
        start = load_start(options.start, options.settings) if options.start else None
        reading = options.reading if start is None else with_separator(options.reading, start)
        training_data = read_training_data(
            options.data,
            options.unlabelled,
            (),
            reading,
            on_document=lambda documents: meter(None, f"{documents:,} texts"),
            on_note=common.reporter.note,
            keep_documents=True,
        )
    check_labelled_data(training_data, options.data, reading.label_separator)
    warn_if_start_is_trained_on(training_data, start, common.reporter)
    vector_source: Embeddings | EmbeddingBuilder | None = vectors
    if earlier_stages:
        # Do not print the sizes of the counts and vectors, because they differ little between folds.
        builder = earlier_stages.builder(options.settings.epochs, training_data.left_out, {})
        vector_source = replace(builder, on_result=lambda result: None)
    used_rows = [row for row, document in enumerate(training_data.documents) if document.weight]
    documents = [training_data.documents[row] for row in used_rows]
    experiment = Experiment(
        texts=[document.text for document in documents],
        labels=[training_data.labels[row] for row in used_rows],  # type: ignore[arg-type]
        folds=options.folds,
        groups=None if options.group is None else group_values(options.group, documents, common.reporter.note),
        shuffle=options.shuffle,
        weights=None if training_data.weights is None else [document.weight for document in documents],
        unlabelled=training_data.unlabelled,
        lexicon=lexicon,
        separator=reading.label_separator,
    )
    return experiment, Recipe(options.settings, vector_source, start), documents
