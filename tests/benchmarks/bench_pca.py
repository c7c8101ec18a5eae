"""PCA, against other eigensolvers on the same operator."""

from __future__ import annotations

import os
import sys

import numpy as np
from measure import Bench, Row, pair


def rows(bench: Bench) -> list[Row]:
    """100 components of the same implicit operator, to the same residual, against ARPACK."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    from nlptx.cooccur import count
    from nlptx.corpus import Corpus, ReadOptions
    from nlptx.eigen import power_iteration
    from nlptx.operators import StandardizedRows, transform
    from nlptx.settings import CountSettings, PcaSettings

    settings = PcaSettings(components=100)
    if bench.data is None:
        print("no archive of reviews: PCA left out", file=sys.stderr)
        return []
    corpus = Corpus([str(bench.data)], ReadOptions(splits=("train", "test", "unsup")))
    found = count((document.text for document in corpus), CountSettings(window=10, max_words=20_000))
    matrix = transform(found.matrix, settings.transform, settings.smoothing)
    size = matrix.shape[0]
    fast = StandardizedRows(matrix, True, np.float32, os.cpu_count() or 1)
    exact = StandardizedRows(matrix, True, np.float64, 1)
    operator = LinearOperator(
        (size, size), matvec=lambda v: exact.covariance(v.reshape(-1, 1)).ravel(), dtype=np.float64
    )

    def ours() -> None:
        power_iteration(fast.covariance, size, 100, tolerance=1e-3, rng=np.random.default_rng(1), dtype=np.float32)

    return [{"stage": f"pca, {size:,} words, {matrix.nnz:,} entries", "peer": "ARPACK eigsh",
             **pair(ours, lambda: eigsh(operator, 100, tol=1e-3), bench.runs)}]  # fmt: skip
