"""``nlptx predict --cluster``: the workers score partitions of the input, and this process joins their output rows."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import BinaryIO

from nlptx.classifier.model import Model
from nlptx.cli.options.cluster import ClusterOptions, path_for_workers, shared_folder
from nlptx.cli.options.shared import CommonOptions
from nlptx.cli.results.output_file import open_output
from nlptx.cli.results.prediction_writer import OUTPUT_FORMATS, PredictionWriter, WriterOptions, different_columns_error
from nlptx.cli.steps.scoring_run import ScoredTexts, score_corpus
from nlptx.cluster.scoring import load_cached
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.partition import Partition
from nlptx.corpus.partitioning import partition_inputs
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.source import input_format, is_archive
from nlptx.io.atomic_write import atomic_output
from nlptx.io.output_path import STDOUT
from nlptx.runtime.resources import peak_memory
from nlptx.runtime.workers import Workers

# Size of a partition in bytes. For large inputs, partitions are smaller than for counting, because scoring takes longer
# and the first rows should appear soon.
_PARTITION = 32 << 20
# Number of texts in the sample that is scored to estimate the time.
_SAMPLE = 2000


@dataclass(frozen=True)
class ScoreJob:
    """The data that all scoring tasks share.

    Args:
        model: absolute path of the model; None for the bundled model.
        reading: options for reading the input.
        writing: options for the content of the output rows.
        output_format: format of the output rows.
        terminal: whether the output is a terminal.
        folder: absolute path of a folder that all workers can access, for intermediate results.
    """

    model: str | None
    reading: ReadOptions
    writing: WriterOptions
    output_format: str
    terminal: bool
    folder: str


@dataclass(frozen=True)
class PartitionTask:
    """The task of scoring one partition; ``number`` is its position among all partitions."""

    number: int
    partition: Partition

    def __str__(self) -> str:
        return str(self.partition)


@dataclass(frozen=True)
class ScoredPartition:
    """The result of scoring one partition.

    Args:
        partition: the partition that was scored.
        path: path of the file that contains the output rows.
        header: the header cells and the delimiter; None if there is no header.
        header_size: size of the header, in bytes.
        texts: facts to report about the texts, such as their number.
        notes: notes about the input.
    """

    partition: Partition
    path: str
    header: tuple[list[str], str] | None
    header_size: int
    texts: ScoredTexts
    notes: list[str]


def predict_on_cluster(
    cluster: ClusterOptions,
    inputs: Sequence[str],
    output: str,
    output_format: str,
    model: str | None,
    reading: ReadOptions,
    writing: WriterOptions,
    common: CommonOptions,
) -> ScoredTexts | None:
    """Score texts on a cluster. Return facts to report about the texts, or None if only the plan was printed."""
    partitions = partition_inputs(inputs, reading, _PARTITION)
    if cluster.dry_run:
        rate = _rate(inputs, model, reading)
        # This process has just scored the sample, so its peak memory is an upper limit for the memory of a task.
        cluster.print_partitions(partitions, rate, 10**6 * peak_memory(), common)
        return None
    if output_format == "auto":
        output_format = _output_format(partitions[0], reading)
    result, noted = ScoredTexts(), set[str]()
    with shared_folder(output, None) as folder:
        terminal = output == STDOUT and sys.stdout.isatty()
        path = path_for_workers(model)
        job = ScoreJob(path, reading, writing, output_format, terminal, folder)
        tasks = (PartitionTask(number, partition) for number, partition in enumerate(partitions))
        paths = dict.fromkeys([*(partition.path for partition in partitions), *([path] if path else []), folder])
        with (
            open_output(output) as file,
            cluster.open(list(paths), common) as workers,
            common.reporter.meter("scoring") as meter,
        ):
            started = time.monotonic()
            for part in _with_one_header(workers.map(partial(score_partition, job), tasks), file):
                done = partitions.index(part.partition) + 1
                for note in part.notes:
                    if note not in noted:
                        noted.add(note)
                        common.reporter.note(note)
                result.add(part.texts, part.partition.locate)
                speed = result.texts / max(time.monotonic() - started, 1e-9)
                state = f"{done:,} of {len(partitions):,} partitions, {result.texts:,} texts, {speed:,.0f} per second"
                meter(done / len(partitions), state)
    return result


def score_partition(job: ScoreJob, task: PartitionTask) -> ScoredPartition:
    """Score a partition, and write the output rows to a file."""
    notes: list[str] = []
    corpus = Corpus([task.partition], job.reading, notes.append)
    path = os.path.join(job.folder, f"scores-{task.number:06}")
    with atomic_output(path, durable=False) as file, Workers(1) as workers:
        rows = PredictionWriter(
            file, job.output_format, load_cached(job.model), job.writing, live=False, terminal=job.terminal
        )
        with task.partition.errors_located():
            texts = score_corpus(corpus, rows.model, rows, workers)
    return ScoredPartition(task.partition, path, rows.header, rows.header_size, texts, notes)


def _with_one_header(parts: Iterator[ScoredPartition], file: BinaryIO) -> Iterator[ScoredPartition]:
    """Append the rows of each partition to the output, remove the file of the partition, and yield the partition.

    The output has one header: that of the first partition with a text or, if no partition has a text, that of the last
    partition.

    Raises:
        DataError: the partitions have different columns.
    """
    first: ScoredPartition | None = None  # None until a partition with a text is reached
    header_alone = b""
    for part in parts:
        has_texts = part.texts.texts > 0
        if has_texts and first is not None and part.header != first.header:
            raise different_columns_error(part.partition.name)
        with open(part.path, "rb") as rows:
            if has_texts:
                rows.seek(0 if first is None else part.header_size)
                shutil.copyfileobj(rows, file)
            else:
                header_alone = rows.read()
        if file is sys.stdout.buffer:  # flushing a compressed file would change its bytes
            file.flush()
        os.unlink(part.path)
        if has_texts:
            first = first or part
        yield part
    if first is None:
        file.write(header_alone)


def _output_format(partition: Partition, reading: ReadOptions) -> str:
    """Return the output format that corresponds to the format of the first input."""
    if os.path.isdir(partition.path) or is_archive(partition.name):
        return OUTPUT_FORMATS["document"]
    format = input_format(partition.name, reading)
    return OUTPUT_FORMATS.get(format, format)


def _rate(inputs: Sequence[str], model: str | None, reading: ReadOptions) -> float:
    """Return the speed of scoring with one core, in bytes of text per second, measured on the first texts."""
    classifier = Model.load(model)
    texts = [document.text for document in islice(Corpus(inputs, reading), _SAMPLE)]
    started = time.perf_counter()
    classifier.predict_proba(texts, Workers(1))
    return sum(len(text.encode("utf-8", "replace")) + 1 for text in texts) / (time.perf_counter() - started)
