"""Prints the plan of ``nlptx pca --cluster --dry-run``."""

from __future__ import annotations

import time

from nlptx.cli.options.cluster import ClusterOptions
from nlptx.cli.options.shared import CommonOptions
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.io.memory_budget import MemoryBudget
from nlptx.pca.fit import check_counts, product_dtype, settings_in_effect
from nlptx.pca.operators import RowOperator
from nlptx.pca.power_iteration import automatic, basis_bytes
from nlptx.pca.transform import even_slices, transform
from nlptx.runtime.resources import peak_memory
from nlptx.settings import PcaSettings


def print_pca_plan(cluster: ClusterOptions, counts: str, settings: PcaSettings, common: CommonOptions) -> None:
    """Print the number of matrix slices, the required memory, and an estimate of the time.

    The time is estimated by measuring a product with one slice.

    Raises:
        ArtifactError: the file is not a co-occurrence matrix or is damaged.
        DataError: there are fewer words than components, or no two words occur near each other.
    """
    import numpy as np

    program = 10**6 * peak_memory()
    with MemoryBudget() as budget:
        opened = StoredCooccurrence.open(counts, budget)
        settings = settings_in_effect(settings, len(opened.vocabulary), common.reporter.note)
        check_counts(opened, settings)
        matrix = opened.matrix
        words, entries = matrix.shape[0], int(matrix.indptr[-1])
        slices = even_slices(matrix)
        sample = max(slices, key=lambda rows: rows.stop - rows.start)
        started = time.perf_counter()
        part = transform(matrix, "log", 1.0)[sample]
    block, degree = automatic(words, settings.components, settings.block, settings.degree)
    dtype = product_dtype(settings)
    operator = RowOperator.of(part, settings.standardize, dtype)
    prepared = time.perf_counter()
    operator.moments(np.ones((words, block), dtype))
    multiplied = time.perf_counter()
    # Assume that the iteration has converged at the first check of the residuals, when the basis has
    # 2 * (components + block) vectors.
    products = min(degree, -(-2 * (settings.components + block) // block))
    seconds = len(slices) * (prepared - started + products * (multiplied - prepared))
    plan = {
        "slices": len(slices),
        "bytes": entries * 12,
        "memory_per_worker": program + 3 * (entries * 12 // len(slices)) + 3 * words * block * dtype.itemsize,
        "memory_of_this_process": basis_bytes(words, settings.components, settings.block, settings.degree, dtype),
        "products": products,
    }
    cluster.print_plan(plan, len(slices), seconds, common)
