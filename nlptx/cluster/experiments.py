"""Cross-validation and tuning on the workers of a cluster, where each task trains and tests one model.

The texts and the results go through files in a folder that all workers can access.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from nlptx.cluster.mapper import Mapper
from nlptx.cluster.stored import Stored
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.embeddings.embeddings import Embeddings
from nlptx.experiments.crossvalidation import RunFolds
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.fold import run_fold
from nlptx.experiments.halving import RunSteps
from nlptx.experiments.step import Step, run_step
from nlptx.runtime.workers import Workers
from nlptx.training.feature_cache import FeatureCache
from nlptx.training.own_embeddings import OwnEmbeddings


@dataclass(frozen=True)
class ExperimentJob:
    """The data that all tasks of an experiment share.

    Args:
        experiment: texts and folds, and the settings to start from.
        folder: absolute path of a folder that all workers can access, for intermediate results.
        seed: seed for the folds and for training, if it is the same for all tasks.
    """

    experiment: Stored[tuple[Experiment, Recipe]]
    folder: str
    seed: int


@dataclass(frozen=True)
class Fold:
    """The task of training a model on all folds except one, and testing it on that fold."""

    seed: int
    fold: int

    def __str__(self) -> str:
        return f"seed {self.seed}, fold {self.fold + 1}"


def folds_on(mapper: Mapper, experiment: Experiment, recipe: Recipe, folder: str) -> RunFolds:
    """Return a function that cross-validates on a cluster, for :func:`.cross_validate`.

    Args:
        mapper: a cluster, or the workers of this machine.
        experiment: texts and folds.
        recipe: how to train.
        folder: folder that all workers can access, for intermediate results.

    Raises:
        OutputError: the texts cannot be written to the folder.
    """
    job = ExperimentJob(_write(experiment, recipe, folder), folder, 0)

    def run_folds(tasks: Sequence[tuple[int, int]]) -> Generator[tuple[dict[str, Any], list[str]]]:
        results = mapper.map(partial(_fold, job), (Fold(*task) for task in tasks), isolated=True)
        for result in results:
            yield result.take()

    return run_folds


def steps_on(mapper: Mapper, experiment: Experiment, recipe: Recipe, folder: str, seed: int) -> RunSteps:
    """Return a function that performs the steps of tuning on a cluster, for :func:`nlptx.experiments.tuning.tune`.

    Args:
        mapper: a cluster, or the workers of this machine.
        experiment: texts and folds.
        recipe: settings to start from.
        folder: folder that all workers can access, for intermediate results.
        seed: seed for the folds and for training.

    Raises:
        OutputError: the texts cannot be written to the folder.
    """
    job = ExperimentJob(_write(experiment, recipe, folder), folder, seed)
    os.mkdir(_feature_folder(job))

    def run_steps(steps: Iterator[Step], count: int) -> Generator[dict[str, Any] | None]:
        yield from mapper.map(partial(_step, job), steps, isolated=True)

    return run_steps


def _write(experiment: Experiment, recipe: Recipe, folder: str) -> Stored[tuple[Experiment, Recipe]]:
    if isinstance(recipe.vectors, OwnEmbeddings):
        # Functions cannot be stored, and each worker has its own folder for temporary files.
        recipe = replace(recipe, vectors=replace(recipe.vectors, on_result=_ignore, tmp_dir=None))
    return Stored.write(folder, "experiment", (experiment, recipe))


def _ignore(result: StoredCooccurrence | Embeddings) -> None:
    """Ignore the counts and the word vectors of a fold."""


def _fold(job: ExperimentJob, task: Fold) -> Stored[tuple[dict[str, Any], list[str]]]:
    experiment, recipe = job.experiment.read_once()
    notes: list[str] = []
    result = run_fold(experiment, recipe, task.seed, task.fold, Workers(1), on_note=notes.append)
    return Stored.write(job.folder, "fold", (result.to_record(), notes))


def _step(job: ExperimentJob, step: Step) -> dict[str, Any]:
    experiment, recipe = job.experiment.read_once()
    return run_step(experiment, recipe, job.seed, step, Workers(1), FeatureCache(_feature_folder(job)))


def _feature_folder(job: ExperimentJob) -> str:
    return os.path.join(job.folder, "features")
