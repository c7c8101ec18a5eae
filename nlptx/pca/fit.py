"""Stage 2: co-occurrence counts -> word vectors, by principal component analysis (PCA).

Steps: counts -> transform (-> standardise) -> X^T X as an operator -> power iteration with deflation -> Y = X W.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import numpy as np

from nlptx.cooccurrence.matrix import Cooccurrence
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError
from nlptx.pca.operators import RowOperator, transform
from nlptx.pca.power_iteration import power_iteration
from nlptx.runtime.workers import Workers
from nlptx.settings import SEED, PcaSettings
from nlptx.text.arguments import check_seed, check_settings, check_type

# For tolerances below this, float32 is not precise enough.
_FLOAT32_TOLERANCE = 1e-4


def fit_pca(
    counts: Cooccurrence,
    settings: PcaSettings | None = None,
    *,
    seed: int = SEED,
    jobs: int | Workers | None = None,
    on_round: Callable[[int, float], None] | None = None,
) -> Embeddings:
    """Turn co-occurrence counts into word vectors.

        Y = X W L^((p-1)/2)    with    C W = W L,    C = X^T X / V

    X (V, V) holds the counts, transformed and optionally standardised. C is the covariance of its columns, except that
    their means are not subtracted. The columns of W (V, R) are the R leading eigenvectors of C, the diagonal matrix L
    holds their eigenvalues, and p is the eigenvalue weight; p = 1 is plain PCA.

    Args:
        counts: the output of :func:`nlptx.count`.
        settings: see :class:`PcaSettings`.
        seed: seed for the random starting block.
        jobs: number of threads, or a Workers object; by default one thread per core. It does not change the result.
        on_round: callback for progress, see :func:`power_iteration`.

    Returns:
        Word vectors (V, R) float32, and for each component its eigenvalue, residual and fraction of the variance.

    Raises:
        DataError: there are fewer words than components, or no two words occur near each other.
        InputTypeError: an argument has the wrong type.
        NlptxError: the iteration does not converge.

    >>> from nlptx import CountSettings, count
    >>> counts = count(["a good film", "a bad film"], CountSettings(min_count=1))
    >>> embeddings = fit_pca(counts, PcaSettings(components=2))
    >>> embeddings
    <Embeddings: 4 words, 2 components>
    >>> embeddings.vectors.shape, embeddings.vectors.dtype
    ((4, 2), dtype('float32'))
    """
    check_type(counts, Cooccurrence, "counts")
    check_settings(settings, PcaSettings)
    check_seed(seed)
    settings = settings or PcaSettings()
    words = len(counts.vocabulary)
    if settings.components > words:
        raise DataError(
            f"{settings.components} components asked for, but the vocabulary has {words} words",
            hint=f"Give `components={words}` or fewer, or count more text (or with a lower `min_count`) first.",
        )
    dtype = np.float32 if settings.tolerance >= _FLOAT32_TOLERANCE else np.float64
    with Workers.of(jobs) as workers:
        matrix = transform(counts.matrix, settings.transform, settings.smoothing, workers)
        rows = RowOperator(matrix, settings.standardize, dtype, workers)
        del matrix
        if rows.trace == 0:
            raise DataError(
                "no two words occur near each other, so there is nothing to analyse", hint="Count more text."
            )
        pairs = power_iteration(
            rows.moments,
            words,
            settings.components,
            tolerance=settings.tolerance,
            rng=np.random.default_rng(seed),
            dtype=dtype,
            block=settings.block,
            degree=settings.degree,
            deflation=settings.deflation,
            max_products=settings.max_products,
            workers=workers,
            on_round=on_round,
        )
        vectors = rows.forward(pairs.vectors)
    # If an eigenvalue is only rounding error, its component is set to 0, because scaling it up would amplify noise.
    nonzero = pairs.values > np.finfo(dtype).eps * pairs.values[0]
    safe = np.where(nonzero, pairs.values, 1)
    vectors *= np.where(nonzero, safe ** ((settings.eigenvalue_weight - 1) / 2), 0)
    if settings.normalize:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
    return Embeddings(
        vectors.astype(np.float32),
        counts.vocabulary,
        eigenvalues=pairs.values.astype(np.float64),
        residuals=pairs.residuals.astype(np.float64),
        explained=(pairs.values / rows.trace).astype(np.float64),
        settings=asdict(settings),
        details={"products": pairs.products},
        made_from=counts.to_artifact().header,
        seed=seed,
    )
