"""``nlptx evaluate --cluster``: the workers score the texts."""

from __future__ import annotations

import time
from collections.abc import Iterator

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import Scored
from nlptx.cli.options.cluster import ClusterOptions, path_for_workers, size_of
from nlptx.cli.options.shared import CommonOptions
from nlptx.cluster.scoring import score_on_workers
from nlptx.io.output_path import STDOUT
from nlptx.runtime.resources import peak_memory
from nlptx.runtime.workers import SERIAL

# Number of texts in the sample that is scored to estimate the time.
_SAMPLE = 2000


def score_texts_on_cluster(
    texts: list[str], model: str | None, cluster: ClusterOptions, common: CommonOptions
) -> Iterator[Scored]:
    """Yield the prediction for each text, in order.

    Args:
        texts: texts to score.
        model: path of the model; None for the bundled model.
        cluster: cluster to use.
        common: options shared by all commands.
    """
    path = path_for_workers(model)
    with (
        cluster.workers(STDOUT, [] if path is None else [path], common) as workers,
        common.reporter.meter("scoring") as meter,
    ):
        started = time.monotonic()

        def show(done: int) -> None:
            speed = done / max(time.monotonic() - started, 1e-9)
            meter(done / len(texts), f"{done:,} of {len(texts):,} texts, {speed:,.0f} per second")

        yield from score_on_workers(texts, path, workers, show)


def print_evaluation_plan(texts: list[str], classifier: Model, cluster: ClusterOptions, common: CommonOptions) -> None:
    """Print the number and size of the texts, and estimates of the memory per worker and of the time."""
    sample = texts[:_SAMPLE]
    started = time.perf_counter()
    classifier.predict_proba(sample, SERIAL)
    seconds = (time.perf_counter() - started) * size_of(texts) / max(size_of(sample), 1)
    # This process holds all texts and has scored the sample, so a worker needs at most the peak memory of this process.
    plan = {"texts": len(texts), "bytes": size_of(texts), "memory_per_worker": 10**6 * peak_memory()}
    cluster.print_plan(plan, len(texts), seconds, common)
