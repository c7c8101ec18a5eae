"""Prints the plans of commands that train on a cluster. The time is estimated by training a model on a sample."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nlptx.classifier.model import Model
from nlptx.cli.options.cluster import ClusterOptions, size_of
from nlptx.cli.options.shared import CommonOptions
from nlptx.corpus.training_data import TrainingTexts
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.fold import run_fold
from nlptx.experiments.parallel_runs import memory_of_run
from nlptx.runtime.workers import Workers
from nlptx.sampling.splits import FOLDS
from nlptx.settings import AUTOMATIC, TrainSettings
from nlptx.training.automatic import EPOCHS, epochs_for_large_corpus
from nlptx.training.fit import fit
from nlptx.training.linear_combination import number_of_folds

# Number of texts in the sample, and minimum number of sampled texts with each label.
_SAMPLE, _OF_EACH = 2000, 5


def print_training_plan(
    training_data: TrainingTexts,
    embeddings: Any,
    start: Model | None,
    settings: TrainSettings,
    seed: int,
    memory: int,
    cluster: ClusterOptions,
    common: CommonOptions,
) -> None:
    """Print the number of texts and models, the memory that a worker needs, and the estimated time on one worker.

    Args:
        training_data: the training data that was read.
        embeddings: word vectors, or an object that makes them, as for :func:`nlptx.fit`.
        start: existing model from which training starts, or None.
        settings: training settings.
        seed: training seed.
        memory: memory limit, in bytes.
        cluster: cluster to use.
        common: options shared by all commands.
    """
    total = len(training_data.texts)
    sample = _sample(training_data.labels)
    texts = [training_data.texts[row] for row in sample]
    labels: Any = [training_data.labels[row] for row in sample]
    settings = _with_epochs(settings, total)
    folds = FOLDS if settings.epochs else number_of_folds(total)
    started = time.perf_counter()
    fit(texts, labels, embeddings, settings, start=start, seed=seed, jobs=Workers(1))
    seconds = (time.perf_counter() - started) * total / len(texts)
    plan = {
        "texts": total,
        "bytes": size_of(training_data.texts),
        # Data that exceeds the memory limit is kept in temporary files.
        "memory_per_worker": min(memory_of_run(training_data.texts, training_data.unlabelled), memory),
        "models_on_the_cluster": folds + 1 if settings.ngrams else 0,
    }
    cluster.print_plan(plan, 1, seconds, common)


def _with_epochs(settings: TrainSettings, texts: int) -> TrainSettings:
    """Return the settings, with an automatic number of epochs replaced by the number for a corpus of ``texts`` texts.

    For a small corpus, the number of epochs stays automatic, because that number also depends on the word vectors.
    """
    if settings.epochs == AUTOMATIC and epochs_for_large_corpus(texts, settings.batch) == EPOCHS:
        return replace(settings, epochs=EPOCHS)
    return settings


def _sample(labels: Sequence[str] | Sequence[tuple[str, ...]]) -> list[int]:
    """Return about ``_SAMPLE`` row numbers. In this sample, each label is about as frequent as in all texts.

    For single-label data, the sample contains at least ``_OF_EACH`` texts with each label, or all texts with this label
    if there are fewer.
    """
    by_label = sorted(range(len(labels)), key=lambda row: labels[row])
    rows = set(by_label[:: max(1, len(labels) // _SAMPLE)])
    counts = Counter[str]()
    for row, label in enumerate(labels):
        if isinstance(label, str) and counts[label] < _OF_EACH:
            counts[label] += 1
            rows.add(row)
    return sorted(rows)


def print_experiment_plan(
    experiment: Experiment,
    recipe: Recipe,
    seed: int,
    trainings: int | None,
    cluster: ClusterOptions,
    common: CommonOptions,
) -> None:
    """Print the number of texts, the memory that a worker needs, and, estimated from a sample, the training time.

    Args:
        experiment: labelled texts, and the number of folds.
        recipe: training settings, and the word vectors or the model to start from.
        seed: seed for the folds and for training.
        trainings: number of models to train; None if the time limit determines it.
        cluster: cluster to use.
        common: options shared by all commands.
    """
    total = len(experiment.texts)
    sample = experiment.sample(_SAMPLE, seed) if total > _SAMPLE else experiment
    recipe = replace(recipe, train=_with_epochs(recipe.train, total))
    started = time.perf_counter()
    run_fold(sample, recipe, seed, 0, Workers(1))
    seconds = (time.perf_counter() - started) * total / len(sample.texts)
    plan = {
        "texts": total,
        "bytes": size_of(experiment.texts),
        "memory_per_worker": memory_of_run(experiment.texts, experiment.unlabelled),
        "models_to_train": "as many as the time allows" if trainings is None else trainings,
        "seconds_per_model": round(seconds, 1),
    }
    cluster.print_plan(plan, trainings or 1, seconds * (trainings or 1), common)
