"""PCA on the workers of a cluster. The result has the same bytes as on one machine.

The transformed counts X are cut into slices of rows X_i, in a way that depends only on the matrix. Each slice is a file
in a folder that all workers can access. For each product with X^T X, this process writes the block of vectors b to
the folder, each task computes X_i^T (X_i b) for one slice, and this process adds the results in the order of the
slices, as on one machine. Everything else, such as the orthogonalisation of the vectors, happens in this process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.cluster.mapper import Mapper
from nlptx.cluster.stored import Stored
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.embeddings.embeddings import Embeddings
from nlptx.io.spill import MemoryBudget
from nlptx.pca.fit import fit_operator
from nlptx.pca.operators import Multiply, RowOperator, Slice, scale_rows
from nlptx.pca.transform import even_slices, totals_of, transform_with
from nlptx.runtime.workers import Workers
from nlptx.settings import PcaSettings


@dataclass(frozen=True)
class PcaJob:
    """The data that all tasks share.

    Args:
        counts: absolute path of the counts.
        settings: settings of the stage.
        dtype: dtype of the products.
        folder: absolute path of a folder that all workers can access, for intermediate results.
    """

    counts: str
    settings: PcaSettings
    dtype: np.dtype
    folder: str


@dataclass(frozen=True)
class Rows:
    """The matrix rows ``first`` to ``after`` (exclusive) that a task processes."""

    first: int
    after: int

    def __str__(self) -> str:
        return f"rows {self.first + 1:,} to {self.after:,}"


@dataclass(frozen=True)
class StoredSlice:
    """A slice of the matrix whose entries are in a file.

    Args:
        rows: rows of the slice.
        scaled: transformed and scaled entries of the slice.
        shift: (rows,) shift of each row; see :class:`nlptx.pca.operators.Slice`.
        squares: sum of the squared entries of the slice.
    """

    rows: Rows
    scaled: Stored[sp.csr_matrix]
    shift: NDArray
    squares: float

    def __str__(self) -> str:
        return str(self.rows)

    def open(self) -> Slice:
        """Return the slice. Its entries are read only when they are needed."""
        return Slice(slice(self.rows.first, self.rows.after), self.scaled.read, self.shift)


def fit_on(
    mapper: Mapper,
    counts: str,
    settings: PcaSettings,
    seed: int,
    folder: str,
    workers: Workers,
    budget: MemoryBudget,
    *,
    on_step: Callable[[str, int, int], None] = lambda step, done, total: None,
    on_round: Callable[[int, float], None] | None = None,
) -> Embeddings:
    """Turn co-occurrence counts into word vectors on a cluster; see :func:`nlptx.fit_pca`.

    Args:
        mapper: a cluster, or the workers of this machine.
        counts: path of the co-occurrence counts.
        settings: settings of the stage.
        seed: seed for the random starting block.
        folder: absolute path of a folder that all workers can access, for intermediate results.
        workers: threads of this process, which do everything except the products.
        budget: object that keeps the counts file open.
        on_step: called with the name of a step, the number of its finished tasks, and its total number of tasks.
        on_round: callback for the progress of the power iteration.

    Raises:
        ArtifactError: the file is not a co-occurrence matrix or is damaged, or an intermediate result is damaged.
        DataError: there are fewer words than components, or no two words occur near each other.
        NlptxError: the iteration does not converge.
        OutputError: an intermediate result cannot be written.
    """
    opened = StoredCooccurrence.open(counts, budget)

    def make_operator(dtype: np.dtype) -> RowOperator:
        job = PcaJob(os.path.abspath(counts), settings, dtype, folder)
        return _operator(mapper, job, opened, on_step)

    return fit_operator(opened, settings, make_operator, seed, workers, on_round)


def _operator(
    mapper: Mapper, job: PcaJob, counts: StoredCooccurrence, on_step: Callable[[str, int, int], None]
) -> RowOperator:
    ranges = [Rows(rows.start, rows.stop) for rows in even_slices(counts.matrix)]

    def run(step: str, work: Callable[[Rows], Any]) -> Iterator[Any]:
        on_step(step, 0, len(ranges))
        for done, result in enumerate(mapper.map(work, iter(ranges), isolated=True), start=1):
            yield result
            on_step(step, done, len(ranges))

    totals = None
    if job.settings.transform == "ppmi":
        totals = Stored.write(
            job.folder, "totals", np.concatenate([part.take() for part in run("adding counts", partial(_totals, job))])
        )
    slices: list[StoredSlice] = list(run("transforming counts", partial(_transform, job, totals)))

    def multiply(product: Multiply, block: NDArray) -> Iterator[Any]:
        stored = Stored.write(job.folder, "block", block)
        for result in mapper.map(partial(_multiply, job, product, stored), iter(slices), isolated=True):
            yield result.take()
        stored.remove()

    return RowOperator(counts.matrix.shape, job.dtype, sum(part.squares for part in slices), multiply)


def _totals(job: PcaJob, rows: Rows) -> Stored[NDArray]:
    """Return the total counts of some rows."""
    with MemoryBudget() as budget:
        matrix = StoredCooccurrence.open(job.counts, budget).matrix
        return Stored.write(job.folder, "totals", totals_of(matrix[rows.first : rows.after]))


def _transform(job: PcaJob, totals: Stored[NDArray] | None, rows: Rows) -> StoredSlice:
    """Transform and scale some rows."""
    with MemoryBudget() as budget:
        matrix = StoredCooccurrence.open(job.counts, budget).matrix
        settings = job.settings
        of_rows = None if totals is None else totals.read()
        part = transform_with(matrix, settings.transform, settings.smoothing, of_rows)[rows.first : rows.after]
        scaled, shift, squares = scale_rows(part, settings.standardize, job.dtype)
    return StoredSlice(rows, Stored.write(job.folder, "slice", scaled), shift, squares)


def _multiply(job: PcaJob, product: Multiply, block: Stored[NDArray], part: StoredSlice) -> Stored[Any]:
    """Compute a product of a slice and a block of vectors, and store it."""
    return Stored.write(job.folder, "product", product(part.open(), block.read()))
