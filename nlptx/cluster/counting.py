"""Counts co-occurrences on the workers of a cluster. The result has the same bytes as on one machine.

1. Each partition is encoded as word ids. Its words are divided into a few ranges of hash values, and the word counts of
  each range are written to a file.
2. For each range, the word counts of all partitions are summed. The most frequent words of all ranges form the
  vocabulary.
3. The word pairs of each partition are counted. Weights by distance can make the counts fractional, so they are stored
  as integer multiples of a unit such as 1/2520, in blocks of matrix rows.
4. For each block, the pair counts of all partitions are added up, at most eight at a time, until one sum remains.
5. The blocks are joined, and the sums are converted from units to counts.

Only integers are added, so the order of addition does not matter. Every task reads and writes files in a folder to
which all workers have access; only names and sizes go through the scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from nlptx.artifacts.container import write
from nlptx.cluster.count_tasks import (
    CountJob,
    EncodeTask,
    SumTask,
    count_partition,
    encode_partition,
    row_blocks,
    sum_rows,
    sum_words,
)
from nlptx.cluster.mapper import Mapper
from nlptx.cluster.pieces import read_rows, read_words, remove
from nlptx.cooccurrence.count import vocabulary_from
from nlptx.cooccurrence.counts_artifact import Counts
from nlptx.cooccurrence.parts import WordList
from nlptx.cooccurrence.spilled_matrix import SpilledMatrix
from nlptx.cooccurrence.window_pairs import unit_weights
from nlptx.corpus.partition import Partition
from nlptx.io.memory_budget import MemoryBudget

T = TypeVar("T")
R = TypeVar("R")

# Maximum number of partial sums that one task adds.
_FAN_IN = 8


def count_partitions(
    partitions: Sequence[Partition],
    job: CountJob,
    mapper: Mapper,
    budget: MemoryBudget,
    *,
    on_note: Callable[[str], None] = lambda note: None,
    on_progress: Callable[[str, int, int], None] = lambda step, done, total: None,
) -> Counts:
    """Count which words occur near each other in the given partitions.

    Args:
        partitions: the partitions into which the input is cut, in order.
        job: data that all tasks share.
        mapper: object that runs the tasks, on a cluster or on this machine.
        budget: memory limit and temporary folder of this process. The counts can be used until ``budget`` is closed.
        on_note: called with notes about the input.
        on_progress: called with the name of a step, the number of its finished tasks, and its total number of tasks.

    Returns:
        The counts, whose details include the number of documents and the digest of the corpus.

    Raises:
        ArtifactError: an intermediate result is damaged.
        DataError: the corpus cannot be read, is empty, has no word that occurs ``min_count`` times, or has more
            distinct words in one partition than fit in memory.
        OutputError: an intermediate result cannot be written.
    """

    def run(step: str, work: Callable[[CountJob, Any], R], tasks: Sequence[Any]) -> Iterator[R]:
        on_progress(step, 0, len(tasks))
        results = mapper.map(partial(work, job), iter(tasks), isolated=True)
        for done, result in enumerate(results, start=1):
            on_progress(step, done, len(tasks))
            yield result

    # A single task computes the digest, because the whole corpus must be read in order. The digest takes longest, so
    # its task starts first.
    whole_corpus = tuple(Partition(part.name, part.path) for part in partitions if part.start == 0)
    encode = [EncodeTask(-1, whole_corpus), *(EncodeTask(number, (part,)) for number, part in enumerate(partitions))]
    corpus, *encoded = run("encoding", encode_partition, encode)
    for note in dict.fromkeys(note for each in encoded for note in each.notes):
        on_note(note)
    details = _choose_vocabulary(job, list(run("summing words", sum_words, range(job.ranges))))
    remove(job.path("words", range_, number) for range_ in range(job.ranges) for number in range(len(partitions)))
    list(run("counting pairs", count_partition, encode[1:]))
    remove(job.path("tokens", number) for number in range(len(partitions)))
    vocabulary = job.vocabulary().vocabulary
    blocks, level, left = len(row_blocks(vocabulary.counts, job.settings.window)), 0, len(partitions)
    while left > 1:
        starts = range(0, left, _FAN_IN)
        tasks = [
            SumTask(block, level, first, min(first + _FAN_IN, left), number)
            for number, first in enumerate(starts)
            for block in range(blocks)
        ]
        list(run("summing pairs", sum_rows, tasks))
        remove(job.path("pairs", level, block, number) for block in range(blocks) for number in range(left))
        level, left = level + 1, len(starts)
    units_per_count = unit_weights(job.settings.weighting, job.settings.window)[1]
    matrix = SpilledMatrix(len(vocabulary), budget, units_per_count)
    for block in range(blocks):
        matrix.append(read_rows(job.path("pairs", level, block, 0)))
    return Counts(matrix, vocabulary, job.settings, details | {"documents": corpus.documents, "sha256": corpus.sha256})


def _choose_vocabulary(job: CountJob, totals: Sequence[tuple[int, int]]) -> dict[str, int]:
    """Choose the vocabulary from the most frequent words of each range, and write it. Return word statistics."""
    counts = {word: count for range_ in range(job.ranges) for word, count in read_words(job.path("top", range_))}
    vocabulary = vocabulary_from(counts, job.settings)
    write(job.path("vocabulary"), WordList(vocabulary, {}).to_artifact(job.settings))
    return {
        "tokens": sum(tokens for tokens, _ in totals),
        "known_tokens": int(vocabulary.counts.sum()),
        "distinct_words": sum(distinct for _, distinct in totals),
    }
