"""``nlptx train --cluster``: the workers of a cluster fit the linear models of the n-gram features."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nlptx.classifier.model import Model
from nlptx.cli.cluster_options import ClusterOptions, print_plan, shared_folder
from nlptx.cli.options import Run
from nlptx.corpus.training_data import TrainingTexts
from nlptx.runtime.workers import Workers
from nlptx.sampling.splits import FOLDS
from nlptx.settings import TrainSettings
from nlptx.training.fit import fit

# Number of texts in the sample on which a model is trained to estimate the time.
_SAMPLE = 2000


@contextmanager
def training_workers(cluster: ClusterOptions, output: str, run: Run) -> Iterator[Workers]:
    """Return the workers of this machine, together with those of the cluster if one is used."""
    if cluster.address is None:
        yield Workers(run.jobs, processes=True)
        return
    from nlptx.cluster.cluster_workers import ClusterWorkers

    with shared_folder(output, None) as folder, cluster.open([folder], run) as mapper:
        yield ClusterWorkers(run.jobs, mapper, folder)


def print_training_plan(
    found: TrainingTexts,
    embeddings: Any,
    start: Model | None,
    settings: TrainSettings,
    seed: int,
    cluster: ClusterOptions,
    run: Run,
) -> None:
    """Print the number of texts, the number of tasks, and the estimated training time without the cluster.

    Args:
        found: the training data.
        embeddings: word vectors, or settings for making them, as for :func:`nlptx.fit`.
        start: model to start from, or None.
        settings: settings of the stage.
        seed: seed of training.
        cluster: the cluster.
        run: options shared by all commands.
    """
    assert cluster.address is not None
    total = len(found.texts)
    sample = range(0, total, max(1, total // _SAMPLE))
    texts = [found.texts[row] for row in sample]
    labels: Any = [found.labels[row] for row in sample]
    started = time.perf_counter()
    fit(texts, labels, embeddings, settings, start=start, seed=seed, jobs=Workers(1))
    seconds = (time.perf_counter() - started) * total / len(texts)
    plan = {
        "texts": total,
        "bytes": sum(len(text.encode("utf-8", "surrogatepass")) for text in found.texts),
        "models_on_the_cluster": FOLDS + 1 if settings.ngrams else 0,
    }
    print_plan(cluster.address, plan, 1, seconds, run)
