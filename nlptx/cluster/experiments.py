"""Cross-validation and tuning on the workers of a cluster, where each task trains and tests one model."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nlptx.cluster.cluster_workers import ClusterWorkers
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.embeddings.embeddings import Embeddings
from nlptx.experiments.crossvalidation import RunFolds
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.fold import run_fold
from nlptx.experiments.halving import PerformRuns
from nlptx.experiments.run import Run, train_and_test
from nlptx.runtime.workers import Workers
from nlptx.training.embedding_builder import EmbeddingBuilder
from nlptx.training.feature_cache import FeatureCache


@dataclass(frozen=True)
class FoldTask:
    """The task of training a model on all folds except one, and testing it on that fold."""

    seed: int
    fold: int

    def __str__(self) -> str:
        return f"seed {self.seed}, fold {self.fold + 1}"


def folds_on(workers: ClusterWorkers, experiment: Experiment, recipe: Recipe) -> RunFolds:
    """Return a function that trains and tests the models of :func:`.cross_validate` on a cluster.

    Args:
        workers: workers of the cluster.
        experiment: texts and folds.
        recipe: settings with which the models are trained.
    """
    shared = experiment, _portable(recipe)

    def run_folds(tasks: Sequence[tuple[int, int]]) -> Generator[tuple[dict[str, Any], list[str]]]:
        yield from workers.map_shared(_fold, shared, (FoldTask(*task) for task in tasks))

    return run_folds


def runs_on(workers: ClusterWorkers, experiment: Experiment, recipe: Recipe, seed: int) -> PerformRuns:
    """Return a function that trains and tests the models of :func:`nlptx.experiments.tuning.tune` on a cluster.

    Args:
        workers: workers of the cluster.
        experiment: texts and folds.
        recipe: settings to start from.
        seed: seed for the folds and for training.
    """
    features = os.path.join(workers.folder, "features")
    os.mkdir(features)
    shared = experiment, _portable(recipe), seed, features

    def perform_runs(runs: Iterator[Run], count: int) -> Generator[dict[str, Any] | None]:
        yield from workers.map_shared(_run, shared, runs)

    return perform_runs


def _portable(recipe: Recipe) -> Recipe:
    """Return the recipe in a form that can be pickled and used on other machines."""
    if not isinstance(recipe.vectors, EmbeddingBuilder):
        return recipe
    return replace(recipe, vectors=replace(recipe.vectors, on_result=_ignore, tmp_dir=None))


def _ignore(result: StoredCooccurrence | Embeddings) -> None:
    """Ignore the counts or the word vectors of a fold. Unlike a lambda, this callback can be pickled."""


def _fold(shared: tuple[Experiment, Recipe], task: FoldTask) -> tuple[dict[str, Any], list[str]]:
    notes: list[str] = []
    result = run_fold(*shared, task.seed, task.fold, Workers(1), on_note=notes.append)
    return result.to_record(), notes


def _run(shared: tuple[Experiment, Recipe, int, str], run: Run) -> dict[str, Any]:
    experiment, recipe, seed, features = shared
    return train_and_test(experiment, recipe, seed, run, Workers(1), FeatureCache(features))
