"""PCA on the workers of a cluster. The result has the same bytes as on one machine.

The matrix X of transformed counts is cut into slices X_i of consecutive rows. The cuts depend only on the matrix of
counts. Each X_i is a file in a folder that all workers can access. The tasks first add up the rows of the counts (for
PPMI) and transform them. For each product with X, the main process writes the block of vectors b to the folder, each
task computes X_i b for one slice, and the main process joins the results. If X is symmetric, X^T X b is computed as two
products with X. With standardisation or smoothing, X is not symmetric; each task then computes X_i^T (X_i b), and the
main process adds the results pairwise, as on one machine. The main process also does all other work, such as the
orthogonalisation of the vectors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from nlptx.cluster.cluster_workers import ClusterWorkers
from nlptx.cluster.stored import Stored
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.embeddings.embeddings import Embeddings
from nlptx.io.memory_budget import MemoryBudget
from nlptx.pca.fit import fit_operator, settings_in_effect
from nlptx.pca.operators import RowOperator, Slice, scale_rows
from nlptx.pca.symmetry import check_stored_symmetric
from nlptx.pca.transform import even_slices, is_symmetric, totals_of, transform_with
from nlptx.settings import PcaSettings

S = TypeVar("S")
R = TypeVar("R")


@dataclass(frozen=True)
class PcaJob:
    """The data that all tasks share.

    Args:
        counts: absolute path of the file of co-occurrence counts.
        settings: settings for PCA.
        dtype: dtype of the products.
        folder: absolute path of a folder that all workers can access, for intermediate results.
    """

    counts: str
    settings: PcaSettings
    dtype: np.dtype
    folder: str


@dataclass(frozen=True)
class RowRange:
    """The matrix rows ``start`` to ``stop`` (exclusive) that a task processes."""

    start: int
    stop: int

    def __str__(self) -> str:
        return f"rows {self.start + 1:,} to {self.stop:,}"


def fit_on(
    workers: ClusterWorkers,
    counts: str,
    settings: PcaSettings,
    seed: int,
    *,
    on_step: Callable[[str, int, int], None] = lambda step, done, total: None,
    on_round: Callable[[int, float], None] | None = None,
    on_note: Callable[[str], None] = lambda note: None,
) -> Embeddings:
    """Turn co-occurrence counts into word vectors on a cluster; see :func:`nlptx.fit_pca`.

    Args:
        workers: the cluster, which computes the products, and the workers of this machine for everything else.
        counts: path of the co-occurrence counts.
        settings: settings for PCA.
        seed: seed for the random starting block.
        on_step: called with the name of a step, the number of its finished tasks, and its total number of tasks.
        on_round: callback for progress; see :func:`nlptx.pca.power_iteration.power_iteration`.
        on_note: called with a note if a setting has no effect, or if there are fewer words than the default number of
            components.

    Raises:
        ArtifactError: the file is not a co-occurrence matrix or is damaged, or an intermediate result is damaged.
        DataError: there are fewer words than components, or no two words occur near each other.
        NlptxError: the iteration does not converge.
        OutputError: an intermediate result cannot be written.
    """
    with MemoryBudget() as budget, workers:
        opened = StoredCooccurrence.open(counts, budget)
        check_stored_symmetric(opened.matrix, workers)
        settings = settings_in_effect(settings, len(opened.vocabulary), on_note)

        def make_operator(dtype: np.dtype) -> RowOperator:
            job = PcaJob(os.path.abspath(counts), settings, dtype, workers.folder)
            return _operator(workers, job, opened, on_step)

        return fit_operator(opened, settings, make_operator, seed, workers, on_round)


def _operator(
    workers: ClusterWorkers, job: PcaJob, counts: StoredCooccurrence, on_step: Callable[[str, int, int], None]
) -> RowOperator:
    ranges = [RowRange(rows.start, rows.stop) for rows in even_slices(counts.matrix)]

    def run(step: str, work: Callable[[S, RowRange], R], shared: S) -> Iterator[R]:
        on_step(step, 0, len(ranges))
        for done, result in enumerate(workers.map_shared(work, shared, ranges), start=1):
            yield result
            on_step(step, done, len(ranges))

    totals = None
    if job.settings.transform == "ppmi":
        totals = np.concatenate(list(run("adding counts", _totals, job)))
    prepared = list(run("transforming counts", _transform, (job, totals)))
    slices = [part for part, _ in prepared]

    squares = sum(squares for _, squares in prepared)
    symmetric = is_symmetric(job.settings.transform, job.settings.smoothing) and not job.settings.standardize
    return RowOperator(counts.matrix.shape, job.dtype, squares, slices, workers, symmetric)


def _totals(job: PcaJob, rows: RowRange) -> NDArray:
    """Return the sum of each matrix row in a range, (rows,)."""
    with MemoryBudget() as budget:
        return totals_of(StoredCooccurrence.open(job.counts, budget).matrix[rows.start : rows.stop])


def _transform(shared: tuple[PcaJob, NDArray | None], rows: RowRange) -> tuple[Slice, float]:
    """Transform and scale a range of rows. Return the slice, stored in a file, and the sum of its squared entries."""
    job, totals = shared
    range_, settings = slice(rows.start, rows.stop), job.settings
    with MemoryBudget() as budget:
        matrix = StoredCooccurrence.open(job.counts, budget).matrix
        part = transform_with(matrix, settings.transform, settings.smoothing, totals)[range_]
        scaled, shift, squares = scale_rows(part, settings.standardize, job.dtype)
    return Slice(range_, Stored.write(job.folder, "slice", scaled).read, shift), squares
