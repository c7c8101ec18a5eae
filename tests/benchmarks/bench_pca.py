"""Times PCA, compared with other eigensolvers on the same matrix: standardised rows, 20,000 words, 100 components.

The residual of a solver is the maximum of |C v - l v| / l over all eigenpairs (l, v) of C = X^T X / n, where X is the
matrix with n standardised rows. Residuals are computed in float64.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from measure import Bench, Row, pair
from numpy.typing import NDArray

from nlptx.runtime.workers import Workers

COMPONENTS = 100
TOLERANCE = 1e-3
# The count matrix of the IMDB reviews (20,000 words, window 10) has 27 million entries. The transform "log" keeps all
# entries of a count matrix; "ppmi" keeps about two thirds of the entries.
TRANSFORMS = ("log", "ppmi")

# A solver returns eigenvalues, in ascending or descending order, and eigenvectors as columns.
Solver = Callable[[], tuple[NDArray, NDArray]]


def rows(bench: Bench) -> list[Row]:
    """Compare nlptx with every peer, for every transform."""
    from nlptx.cooccurrence.matrix import count
    from nlptx.corpus.corpus import Corpus
    from nlptx.corpus.read_options import ReadOptions
    from nlptx.pca.transform import transform
    from nlptx.settings import CountSettings

    if bench.data is None:
        print("no archive of reviews: PCA is skipped", file=sys.stderr)
        return []
    corpus = Corpus([str(bench.data)], ReadOptions(splits=("train", "test", "unsup")))
    counts = count((document.text for document in corpus), CountSettings(window=10, max_words=20_000))
    return [row for name in TRANSFORMS for row in compare(name, transform(counts.matrix, name, 1.0)[:], bench.runs)]


def compare(name: str, matrix: sp.csr_matrix, runs: int) -> Iterator[Row]:
    """Yield a row per peer, with the residuals of nlptx and of the peer."""
    from nlptx.pca.operators import RowOperator

    workers = Workers()
    exact = RowOperator.of(matrix, True, np.float64, workers)

    def residual(pairs: tuple[NDArray, NDArray]) -> float:
        values, vectors = (np.asarray(part, np.float64) for part in pairs)
        errors = exact.moments(vectors) - vectors * values
        return float((np.linalg.norm(errors, axis=0) / values).max())

    ours = power_iteration(RowOperator.of(matrix, True, np.float32, workers), workers)
    for peer, solver in [
        ("ARPACK eigsh", arpack(matrix, workers, residual)),
        ("scikit-learn PCA(arpack)", sklearn_pca(matrix)),
        ("scikit-learn TruncatedSVD", sklearn_truncated_svd(matrix)),
    ]:
        kept: dict[str, Any] = {}
        times = pair(keep(kept, "ours", ours), None if solver is None else keep(kept, "peer", solver), runs)
        yield {
            "stage": f"pca, {name}, {matrix.shape[0]:,} words, {matrix.nnz:,} entries",
            "peer": peer,
            **times,
            "residual": residual(kept["ours"]),
            "peer_residual": None if solver is None else residual(kept["peer"]),
        }


def keep(kept: dict[str, Any], name: str, solver: Solver) -> Callable[[], None]:
    """Return a function that runs ``solver`` and stores the result in ``kept``."""

    def work() -> None:
        kept[name] = solver()

    return work


def power_iteration(operator: Any, workers: Workers) -> Solver:
    """Return a solver that runs nlptx's power iteration, with one BLAS thread per worker, as in ``fit_pca``."""
    from nlptx.pca import power_iteration

    def solve() -> tuple[NDArray, NDArray]:
        with workers:
            pairs = power_iteration.power_iteration(
                operator.moments,
                operator.shape[1],
                COMPONENTS,
                tolerance=TOLERANCE,
                rng=np.random.default_rng(1),
                dtype=operator.dtype,
                workers=workers,
            )
        return pairs.values, pairs.vectors

    return solve


def arpack(matrix: sp.csr_matrix, workers: Workers, residual: Callable[[tuple[NDArray, NDArray]], float]) -> Solver:
    """Return a solver that runs ARPACK on nlptx's operator with all threads.

    ARPACK runs in the fastest dtype in which it meets the tolerance.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    from nlptx.pca.operators import RowOperator

    def solver(dtype: Any) -> Solver:
        rows = RowOperator.of(matrix, True, dtype, workers)
        operator = LinearOperator(
            (rows.shape[1],) * 2, matvec=lambda v: rows.moments(v.reshape(-1, 1)).ravel(), dtype=dtype
        )
        start = np.random.default_rng(1).standard_normal(rows.shape[1]).astype(dtype)
        return lambda: eigsh(operator, COMPONENTS, tol=TOLERANCE, v0=start)

    tried = []
    for one in (solver(np.float32), solver(np.float64)):
        start = time.perf_counter()
        met = residual(one()) <= TOLERANCE
        tried.append((not met, time.perf_counter() - start, one))
    return min(tried, key=lambda entry: entry[:2])[2]


def standardized(matrix: sp.csr_matrix) -> tuple[sp.csr_matrix, NDArray]:
    """Return S and the vector m, in float32, such that the standardised matrix is S - m 1^T."""
    mean = np.asarray(matrix.mean(axis=1)).ravel()
    deviation = np.sqrt(np.asarray(matrix.power(2).mean(axis=1)).ravel() - mean**2)
    scale = 1 / np.where(deviation > 0, deviation, np.inf)
    return (sp.diags_array(scale) @ matrix).tocsr().astype(np.float32), (mean * scale).astype(np.float32)


def sklearn_pca(matrix: sp.csr_matrix) -> Solver | None:
    """Return a solver that runs scikit-learn's PCA with the same tolerance, or None if scikit-learn is not installed.

    scikit-learn's PCA centres columns, so it gets the transpose of the sparse matrix.
    """
    try:
        from sklearn.decomposition import PCA
    except ImportError:
        print("scikit-learn is not installed: its PCA is skipped", file=sys.stderr)
        return None
    scaled = sp.csr_array(standardized(matrix)[0].T)

    def solve() -> tuple[NDArray, NDArray]:
        pca = PCA(COMPONENTS, svd_solver="arpack", tol=TOLERANCE, random_state=1)
        projected = pca.fit_transform(scaled)
        return pca.singular_values_**2 / len(projected), projected / pca.singular_values_

    return solve


def sklearn_truncated_svd(matrix: sp.csr_matrix) -> Solver | None:
    """Return a solver that runs scikit-learn's TruncatedSVD with default settings, or None if it is not installed.

    TruncatedSVD does not centre, so it gets a dense matrix that is already centred.
    """
    try:
        from sklearn.decomposition import TruncatedSVD
    except ImportError:
        print("scikit-learn is not installed: its TruncatedSVD is skipped", file=sys.stderr)
        return None
    scaled, shift = standardized(matrix)
    dense = scaled.toarray()
    dense -= shift[:, None]

    def solve() -> tuple[NDArray, NDArray]:
        svd = TruncatedSVD(COMPONENTS, random_state=1).fit(dense)
        return svd.singular_values_**2 / len(dense), svd.components_.T

    return solve
