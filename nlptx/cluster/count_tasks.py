"""The tasks of counting on a cluster; see :mod:`nlptx.cluster.counting`."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.artifacts.container import build, read, write
from nlptx.cluster.pieces import read_rows, read_words, write_rows, write_words
from nlptx.cooccurrence.count import count_vocabulary_pairs, read_stream, vocabulary_ids_of
from nlptx.cooccurrence.matrix_sums import sum_in_tree
from nlptx.cooccurrence.parts import TOKENS, WORDS, TokenPart, WordList, check_complete
from nlptx.cooccurrence.window_pairs import SparseRows
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.partition import Partition
from nlptx.corpus.read_options import ReadOptions
from nlptx.corpus.shard import Shard
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings
from nlptx.text.token_stream import TokenStream
from nlptx.text.vocabulary import rank_words

# The words are divided into ranges by hash value, one range per _RANGE_BYTES bytes of input. The rows of the matrix are
# divided into blocks of at most _BLOCK_ENTRIES entries each, not counting the first row of a block. The two numbers
# determine how much memory a summing task needs, and how many summing tasks can run at the same time.
_RANGE_BYTES, _BLOCK_ENTRIES = 1 << 30, 24_000_000


@dataclass(frozen=True)
class CountJob:
    """The data that all counting tasks share.

    Args:
        settings: settings for counting.
        reading: options for reading the input.
        folder: absolute path of a folder that all workers can access, for intermediate results.
        memory: memory limit of a task, in bytes.
        partitions: number of input partitions.
        ranges: number of ranges into which the words are divided. The hash value of a word determines its range.
    """

    settings: CountSettings
    reading: ReadOptions
    folder: str
    memory: int
    partitions: int
    ranges: int

    @classmethod
    def of(
        cls, partitions: Sequence[Partition], settings: CountSettings, reading: ReadOptions, folder: str, memory: int
    ) -> CountJob:
        """Return the data that the tasks for the given partitions share.

        The number of ranges into which the words are divided depends only on the size of the input.
        """
        ranges = -(-sum(partition.size for partition in partitions) // _RANGE_BYTES)
        return cls(settings, reading, os.path.abspath(folder), memory, len(partitions), max(1, ranges))

    def path(self, name: str, *numbers: int) -> str:
        """Return the path of an intermediate result."""
        return os.path.join(self.folder, "-".join([name, *(f"{number:06}" for number in numbers)]) + ".npz")

    def vocabulary(self) -> WordList:
        """Read the vocabulary, which the second step of counting writes. Raise ArtifactError if the file is damaged."""
        path = self.path("vocabulary")
        return build(read(path, WORDS), WordList.from_artifact, path)


@dataclass(frozen=True)
class EncodeTask:
    """The task of encoding a partition as word ids.

    A task with the number -1 instead computes the digest of the whole corpus.
    """

    number: int
    inputs: tuple[Partition, ...]

    def __str__(self) -> str:
        return ", ".join(map(str, self.inputs))


@dataclass(frozen=True)
class EncodeResult:
    """The result of :class:`EncodeTask`.

    Args:
        documents: number of documents.
        sha256: digest of the documents.
        notes: notes about the input.
    """

    documents: int
    sha256: str
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SumTask:
    """The task of adding up several partial sums of one block of rows.

    The partial sums of level 0 are the counts of the partitions; a partial sum of a higher level is the total of a few
    partial sums of the level below.

    Args:
        block: number of the block.
        level: level of the partial sums to add.
        start, stop: the task adds the partial sums ``start`` to ``stop - 1`` of this level.
        number: number of the resulting partial sum in the next level.
    """

    block: int
    level: int
    start: int
    stop: int
    number: int

    def __str__(self) -> str:
        return f"rows of block {self.block}, sums {self.start} to {self.stop - 1} of level {self.level}"


def row_blocks(counts: NDArray[np.int64], window: int) -> list[slice]:
    """Cut the rows of the matrix into blocks of about equal size.

    The size of a row is its maximum possible number of entries: min(2 * window * n, V) for a word that occurs n times.

    Args:
        counts: (V,) number of occurrences of each word.
        window: maximum distance between the words of a pair.
    """
    total = np.cumsum(np.minimum(2 * window * counts, len(counts)))
    cuts = np.searchsorted(total, np.arange(_BLOCK_ENTRIES, total[-1], _BLOCK_ENTRIES), side="right").tolist()
    return [slice(start, stop) for start, stop in pairwise(sorted({0, *cuts, len(total)}))]


def encode_partition(job: CountJob, task: EncodeTask) -> EncodeResult:
    """Encode a partition as word ids, and write its word counts, one file per range of hash values.

    If the task has the number -1, compute the digest of the whole corpus instead.
    """
    notes: list[str] = []
    corpus = Corpus(task.inputs, job.reading, notes.append)
    if task.number < 0:
        for _ in corpus.blocks():
            pass
        return EncodeResult(corpus.documents, corpus.sha256)
    with task.inputs[0].errors_located(), MemoryBudget(job.memory) as budget, Workers(1) as workers:
        stream = read_stream(corpus.blocks(), job.settings, budget, workers)
        check_complete(stream)
        facts = {"documents": corpus.documents, "sha256": corpus.sha256}
        part = TokenPart.of(stream, Shard(task.number + 1, job.partitions), facts)
    write(job.path("tokens", task.number), part.to_artifact(job.settings), durable=False)
    ranges: list[list[tuple[bytes, int]]] = [[] for _ in range(job.ranges)]
    for word, count in zip(part.chunk.words, part.chunk.counts.tolist(), strict=True):
        ranges[crc32(word) % job.ranges].append((word, count))
    for number, counts in enumerate(ranges):
        write_words(job.path("words", number, task.number), counts)
    return EncodeResult(corpus.documents, corpus.sha256, notes)


def sum_words(job: CountJob, number: int) -> tuple[int, int]:
    """Sum the word counts in a range of hash values, and write the most frequent words of the range.

    Return the number of tokens and the number of distinct words in the range. If no word occurs ``min_count`` times,
    the most frequent word is written anyway, because the error message names it.
    """
    counts: defaultdict[bytes, int] = defaultdict(int)
    for partition in range(job.partitions):
        for word, count in read_words(job.path("words", number, partition)):
            counts[word] += count
    top = rank_words(counts, job.settings.min_count, job.settings.max_words) or rank_words(counts, 1, 1)
    write_words(job.path("top", number), ((word, counts[word]) for word in top))
    return sum(counts.values()), len(counts)


def count_partition(job: CountJob, task: EncodeTask) -> None:
    """Count the word pairs in a partition, and write the counts, one file per block of rows."""
    path = job.path("tokens", task.number)
    vocabulary = job.vocabulary().vocabulary
    with MemoryBudget(job.memory) as budget, Workers(1) as workers:
        stream = TokenStream(budget)
        stream.add(build(read(path, TOKENS), TokenPart.from_artifact, path).chunk)
        check_complete(stream)
        vocabulary_ids = vocabulary_ids_of(stream, vocabulary)
        matrix = count_vocabulary_pairs(
            stream, vocabulary_ids, len(vocabulary), job.settings, budget, workers, in_units=True
        )
        bounds = matrix.indptr()
        for number, block in enumerate(row_blocks(vocabulary.counts, job.settings.window)):
            start, stop = int(bounds[block.start]), int(bounds[block.stop])
            lengths = np.diff(bounds[block.start : block.stop + 1])
            rows = SparseRows(matrix.columns.read(start, stop), matrix.values.read(start, stop), lengths)
            write_rows(job.path("pairs", 0, number, task.number), rows)


def sum_rows(job: CountJob, task: SumTask) -> None:
    """Add up several partial sums of a block of rows, and write the result."""
    words = len(job.vocabulary().vocabulary)
    paths = [job.path("pairs", task.level, task.block, number) for number in range(task.start, task.stop)]
    total = sum_in_tree([_matrix(read_rows(path), words) for path in paths])
    lengths = np.diff(total.indptr).astype(np.int64)
    rows = SparseRows(total.indices.astype(np.int32, copy=False), total.data, lengths)
    write_rows(job.path("pairs", task.level + 1, task.block, task.number), rows)


def _matrix(rows: SparseRows, words: int) -> sp.csr_matrix:
    indptr = np.concatenate([[0], np.cumsum(rows.lengths)])
    return sp.csr_matrix((rows.sums, rows.columns, indptr), (len(rows.lengths), words))
