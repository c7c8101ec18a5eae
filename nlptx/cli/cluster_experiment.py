"""``nlptx crossvalidate --cluster`` and ``nlptx tune --cluster``: each worker trains one model at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from nlptx.cli.cluster_options import ClusterOptions, print_plan, shared_folder
from nlptx.cli.options import Run
from nlptx.cluster.cluster import Cluster
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.fold import run_fold
from nlptx.experiments.side_by_side import memory_of_run
from nlptx.runtime.workers import Workers

# Number of texts in the sample on which a model is trained to estimate the time.
_SAMPLE = 2000


@contextmanager
def open_for_experiment(
    cluster: ClusterOptions, output: str, run: Run, per_worker: int = 2
) -> Iterator[tuple[Cluster, str]]:
    """Connect to a cluster, and make a folder for intermediate results that all workers can access.

    Args:
        cluster: cluster to use.
        output: path of the output, beside which the folder is made.
        run: options shared by all commands.
        per_worker: number of tasks assigned to each worker at a time.
    """
    with shared_folder(output, None) as folder, cluster.open([folder], run, per_worker) as workers:
        yield workers, folder


def print_experiment_plan(
    experiment: Experiment, recipe: Recipe, seed: int, trainings: int | None, cluster: ClusterOptions, run: Run
) -> None:
    """Print the number of texts, the memory that a worker needs, and the training time, estimated from a sample.

    Args:
        experiment: texts and folds.
        recipe: how to train.
        seed: seed for the folds and for training.
        trainings: number of models to train; None if the time limit determines it.
        cluster: cluster to use.
        run: options shared by all commands.
    """
    assert cluster.address is not None
    total = len(experiment.texts)
    sample = experiment.sample(_SAMPLE, seed) if total > _SAMPLE else experiment
    started = time.perf_counter()
    run_fold(sample, recipe, seed, 0, Workers(1))
    seconds = (time.perf_counter() - started) * total / len(sample.texts)
    plan = {
        "texts": total,
        "bytes": sum(len(text.encode("utf-8", "surrogatepass")) for text in experiment.texts),
        "memory_per_worker": memory_of_run(experiment),
        "models_to_train": "as many as the time allows" if trainings is None else trainings,
        "seconds_per_model": round(seconds, 1),
    }
    print_plan(cluster.address, plan, trainings or 1, seconds * (trainings or 1), run)
