"""``nlptx pca --cluster``: the workers of a cluster multiply the matrix."""

from __future__ import annotations

import os
import time

from nlptx.cli.cluster_options import ClusterOptions, print_plan, shared_folder
from nlptx.cli.options import Run
from nlptx.cluster.pca import fit_on
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.corpus.sources import STDIN
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import SettingsError
from nlptx.io.spill import MemoryBudget
from nlptx.pca.operators import RowOperator
from nlptx.pca.power_iteration import automatic, basis_bytes
from nlptx.pca.transform import even_slices, transform
from nlptx.runtime.workers import Workers
from nlptx.settings import PcaSettings


def fit_on_cluster(
    cluster: ClusterOptions,
    counts: str,
    output: str,
    settings: PcaSettings,
    seed: int,
    memory: int,
    tmp_dir: str | None,
    run: Run,
) -> Embeddings | None:
    """Return the word vectors, or None if only the plan was printed. The arguments are those of the command."""
    if counts == STDIN:
        raise SettingsError("the workers of a cluster cannot read standard input", hint="Use a file.")
    with MemoryBudget(memory) as budget:
        if cluster.dry_run:
            _print_plan(cluster, counts, settings, budget, run)
            return None
        with shared_folder(output, tmp_dir) as folder:
            path = os.path.abspath(counts)
            with (
                cluster.open([path, folder], run) as workers,
                Workers(run.jobs) as threads,
                run.reporter.meter("components") as meter,
            ):

                def show_step(step: str, done: int, total: int) -> None:
                    meter(done / total, f"{done:,} of {total:,} tasks", title=step)

                def show_round(found: int, residual: float) -> None:
                    state = f"{found} of {settings.components}, largest residual {residual:.1e}"
                    meter(found / settings.components, state, title="components")

                return fit_on(
                    workers, counts, settings, seed, folder, threads, budget, on_step=show_step, on_round=show_round
                )


def _print_plan(cluster: ClusterOptions, counts: str, settings: PcaSettings, budget: MemoryBudget, run: Run) -> None:
    """Print the number of slices, the required memory, and the time, estimated from a product with one slice."""
    import numpy as np

    assert cluster.address is not None
    matrix = StoredCooccurrence.open(counts, budget).matrix
    words, entries = matrix.shape[0], int(matrix.indptr[-1])
    slices = even_slices(matrix)
    sample = max(slices, key=lambda rows: rows.stop - rows.start)
    block, degree = automatic(words, settings.components, settings.block, settings.degree)
    started = time.perf_counter()
    part = transform(matrix, "log", 1.0)[sample]
    operator = RowOperator.of(part, settings.standardize, np.float32)
    prepared = time.perf_counter()
    operator.moments(np.ones((words, block), np.float32))
    multiplied = time.perf_counter()
    # The residuals are first checked when the basis has twice as many vectors as are needed.
    products = min(degree, -(-2 * (settings.components + block) // block))
    seconds = len(slices) * (prepared - started + products * (multiplied - prepared))
    plan = {
        "partitions": len(slices),
        "bytes": entries * 12,
        "memory_per_worker": 3 * (entries * 12 // len(slices)) + 3 * words * block * 4,
        "memory_of_this_process": basis_bytes(words, settings.components, settings.block, settings.degree, np.float32),
        "products": products,
    }
    print_plan(cluster.address, plan, len(slices), seconds, run)
