"""``nlptx cooccur --cluster``: the workers of a cluster count the pairs of words."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence

from nlptx.artifacts import container
from nlptx.cli.options.cluster import ClusterOptions, shared_folder
from nlptx.cli.results.stage_facts import count_facts
from nlptx.cli.steps.stage_run import StageRun
from nlptx.cluster.count_tasks import CountJob
from nlptx.cluster.counting import count_partitions
from nlptx.cooccurrence.count import count_corpus
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.partition import Partition
from nlptx.corpus.partitioning import partition_inputs, partition_size
from nlptx.corpus.read_options import ReadOptions, non_default_options
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings

# Number of bytes of text in the sample that is used to estimate the time.
_SAMPLE = 4 << 20


def count_on_cluster(
    stage: StageRun,
    cluster: ClusterOptions,
    inputs: Sequence[str],
    settings: CountSettings,
    reading: ReadOptions,
    splits: tuple[str, ...],
    memory: int,
    tmp_dir: str | None,
) -> None:
    """Count on a cluster and write the artifact; with ``--dry-run``, only print the plan."""
    common = stage.common
    partitions = partition_inputs(inputs, reading, partition_size(inputs))
    if cluster.dry_run:
        cluster.print_partitions(partitions, _rate(inputs, settings, reading), memory, common)
        return
    with shared_folder(stage.output, tmp_dir) as folder, MemoryBudget(memory, folder) as budget:
        job = CountJob.of(partitions, settings, reading, folder, memory)
        paths = dict.fromkeys([*(partition.path for partition in partitions), folder])
        with cluster.open(list(paths), common) as workers, common.reporter.meter("counting") as meter:
            progress = _Progress(partitions)

            def show(step: str, done: int, total: int) -> None:
                meter(done / total, progress.state(step, done, total), title=step)

            counts = count_partitions(partitions, job, workers, budget, on_note=common.reporter.note, on_progress=show)
        details = counts.details | {"reading": non_default_options(reading, splits)}
        container.write(stage.output, dataclasses.replace(counts, details=details).to_artifact())
        stage.finish("counts", count_facts(details, len(counts.vocabulary), len(counts.matrix.columns)))


class _Progress:
    """Describes the progress of a step: tasks, throughput and remaining time."""

    def __init__(self, partitions: Sequence[Partition]) -> None:
        self._megabytes = sum(partition.size for partition in partitions) / 1e6
        self._step, self._started = "", 0.0

    def state(self, step: str, done: int, total: int) -> str:
        """Return a description such as "3 of 8 tasks, 40 MB/s, 12 s left"."""
        if step != self._step:
            self._step, self._started = step, time.monotonic()
        seconds = time.monotonic() - self._started
        state = f"{done:,} of {total:,} tasks"
        if done and seconds:
            speed = self._megabytes * done / total / seconds
            state += f", {speed:,.0f} MB/s, {seconds * (total - done) / done:,.0f} s left"
        return state


def _rate(inputs: Sequence[str], settings: CountSettings, reading: ReadOptions) -> float:
    """Return the speed of counting with one core, in bytes of text per second, measured on the first texts."""
    sample: list[bytes] = []
    for block in Corpus(inputs, reading).blocks():
        sample.append(block)
        if sum(map(len, sample)) >= _SAMPLE:
            break

    started = time.perf_counter()
    with MemoryBudget() as budget, Workers(1) as workers:
        count_corpus(sample, dataclasses.replace(settings, min_count=1), budget, workers)
    return sum(map(len, sample)) / (time.perf_counter() - started)
