"""Stage 2: co-occurrence counts -> word vectors, by principal component analysis (PCA).

Steps: counts -> transform (-> standardise) -> X^T X as an operator -> power iteration with deflation -> Y = X W.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, replace

import numpy as np

from nlptx.arguments.values import check_natural, check_seed, check_settings, check_type
from nlptx.cooccurrence.matrix import Cooccurrence
from nlptx.cooccurrence.stored_matrix import StoredCooccurrence
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.paths import FilePath, file_name
from nlptx.pca.component_weights import cosine_weights, eigenvalue_factors
from nlptx.pca.operators import RowOperator
from nlptx.pca.power_iteration import basis_bytes, power_iteration
from nlptx.pca.rare_words import improve_rare_words
from nlptx.pca.spilled_slices import SpilledSlices
from nlptx.pca.symmetry import check_stored_symmetric
from nlptx.pca.transform import is_symmetric, transform
from nlptx.runtime.workers import Workers
from nlptx.settings import DEFAULT_MEMORY, SEED, PcaSettings
from nlptx.settings.unused import unused_pca_notes

# Hint that follows the message that no two words are near each other.
_NO_PAIRS = "Count more text, or texts of several words; texts of a single word give no word vectors."
# Smallest tolerance for which the products are computed in float32.
_FLOAT32_TOLERANCE = 1e-4


def fit_pca(
    counts: Cooccurrence | StoredCooccurrence | FilePath,
    settings: PcaSettings | None = None,
    *,
    seed: int = SEED,
    jobs: int | Workers | None = None,
    memory: int = DEFAULT_MEMORY,
    tmp_dir: FilePath | None = None,
    on_round: Callable[[int, float], None] | None = None,
    on_note: Callable[[str], None] = lambda note: None,
) -> Embeddings:
    """Turn co-occurrence counts into word vectors.

        Y = X W L^((p-1)/2) D    with    C W = W L,    C = X^T X / V

    X (V, V) contains the counts, transformed and optionally standardised. C (V, V) holds the uncentred second moments
    of the columns of X; if the columns had mean 0, C would be their covariance matrix. The columns of W (V, R) are the
    R leading eigenvectors of C, the diagonal matrix L holds their eigenvalues, and p is the eigenvalue weight; p = 1 is
    plain PCA. The diagonal matrix D holds weights that improve cosine similarities (see
    :func:`.cosine_weights`). Finally, the vectors of rare words are moved towards those of words with a similar
    spelling (see :mod:`nlptx.pca.rare_words`). The training of a classifier starts from the resulting vectors, divided
    by the weights in D, because training learns such weights itself.

    Args:
        counts: the output of :func:`nlptx.count`, or the name of a file written by ``nlptx cooccur``, from which the
            matrix is read in parts.
        settings: see :class:`PcaSettings`.
        seed: seed for the random starting block.
        jobs: number of threads, or a :class:`Workers` object; by default, one thread per core. The number of
            threads does not change the result.
        memory: maximum number of bytes for the transformed matrix and the vectors together. If the matrix and the
            vectors need more memory, the matrix is written to a temporary file, which is read again for each product.
            The vectors always stay in memory, even if they alone exceed the limit, and so do the character n-grams of
            the words, which are not counted. The memory limit does not change the result.
        tmp_dir: folder for temporary files.
        on_round: callback for progress; see :func:`power_iteration`.
        on_note: called with a note if a setting has no effect, if there are fewer words than the default number of
            components, or if the vectors alone exceed the memory limit.

    Returns:
        Word vectors (V, R) float32 and, for each component, its eigenvalue, its residual and the fraction of the sum of
        the squared entries of X that the component explains.

    Raises:
        ArtifactError: the file is not a co-occurrence matrix or is damaged.
        DataError: there are fewer words than components (unless ``components`` has its default value, which is then
            reduced), no two words occur near each other, or all transformed counts are 0.
        InputTypeError: an argument has the wrong type.
        NlptxError: the iteration does not converge.
        OutputError: the temporary files cannot be written.
        SettingsError: the file does not exist, or ``jobs`` is invalid.

    >>> from nlptx import CountSettings, count
    >>> counts = count(["a good film", "a bad film"], CountSettings(min_count=1))
    >>> embeddings = fit_pca(counts, PcaSettings(components=2))
    >>> embeddings
    <Embeddings: 4 words, 2 components>
    >>> embeddings.vectors.shape, embeddings.vectors.dtype
    ((4, 2), dtype('float32'))
    """
    if not isinstance(counts, str | os.PathLike | StoredCooccurrence):
        check_type(counts, Cooccurrence, "counts")
    check_settings(settings, PcaSettings)
    check_seed(seed)
    settings = settings or PcaSettings()
    check_natural(memory, "memory")
    folder = None if tmp_dir is None else file_name(tmp_dir, "tmp_dir")
    # Numbers too small for a float become 0, even if the caller has told NumPy to raise an error for underflow.
    with np.errstate(under="ignore"), MemoryBudget(memory, folder) as budget, Workers.of(jobs) as workers:
        if isinstance(counts, str | os.PathLike):
            opened: Cooccurrence | StoredCooccurrence = StoredCooccurrence.open(counts, budget)
            check_stored_symmetric(opened.matrix, workers)
        else:
            opened = counts
        settings = settings_in_effect(settings, len(opened.vocabulary), on_note)

        def make_operator(dtype: np.dtype) -> RowOperator:
            vectors_size = basis_bytes(
                len(opened.vocabulary), settings.components, settings.block, settings.degree, dtype
            )
            if vectors_size > memory:
                on_note(
                    f"the vectors need up to {vectors_size >> 20:,} MB, more than `memory` ({memory >> 20:,} MB), and"
                    " stay in memory; only the matrix goes to disk. To use less memory, lower `components`, or count"
                    " fewer words"
                )
            matrix = transform(opened.matrix, settings.transform, settings.smoothing, workers)
            slices = SpilledSlices(int(matrix.indptr[-1]), dtype, budget.memory - vectors_size, budget)
            symmetric = is_symmetric(settings.transform, settings.smoothing)
            return RowOperator.of(matrix, settings.standardize, dtype, workers, slices.add, symmetric)

        return fit_operator(opened, settings, make_operator, seed, workers, on_round)


def settings_in_effect(settings: PcaSettings, words: int, on_note: Callable[[str], None]) -> PcaSettings:
    """Return the settings of PCA for a vocabulary of ``words`` words, and report settings that have no effect.

    If the number of components has its default value and exceeds the number of words, it is reduced to the number of
    words. Any other number of components is not changed.
    """
    for note in unused_pca_notes(settings):
        on_note(note)
    is_default = settings.components == PcaSettings.components
    return limit_components(settings, words, on_note) if is_default else settings


def limit_components(settings: PcaSettings, words: int, on_note: Callable[[str], None]) -> PcaSettings:
    """Return settings with at most ``words`` components; call ``on_note`` if this reduces the number of components."""
    if settings.components <= words:
        return settings
    several = f"{words:,} words, so their vectors have {words:,} components"
    on_note(f"the vocabulary has only {'1 word, so its vector has 1 component' if words == 1 else several}")
    return replace(settings, components=words)


def product_dtype(settings: PcaSettings) -> np.dtype:
    """Return the dtype of the matrix products of PCA: float32, or float64 if the tolerance is too small for float32."""
    return np.dtype(np.float32 if settings.tolerance >= _FLOAT32_TOLERANCE else np.float64)


def check_counts(counts: Cooccurrence | StoredCooccurrence, settings: PcaSettings) -> None:
    """Raise DataError if PCA is impossible: there are too few words, or no two words occur near each other."""
    words = len(counts.vocabulary)
    if settings.components > words:
        raise DataError(
            f"{settings.components} components were requested,"
            f" but the vocabulary has only {words} word{'s' * (words != 1)}",
            hint=f"Set `components` to {words} or less; or count again, with more text or a lower `min_count`.",
        )
    if not counts.matrix.indptr[-1]:
        raise DataError("no two words occur near each other, so there is nothing to analyse", hint=_NO_PAIRS)


def fit_operator(
    counts: Cooccurrence | StoredCooccurrence,
    settings: PcaSettings,
    make_operator: Callable[[np.dtype], RowOperator],
    seed: int,
    workers: Workers,
    on_round: Callable[[int, float], None] | None = None,
) -> Embeddings:
    """Compute word vectors like :func:`fit_pca`, with an operator whose products may be computed on a cluster.

    Args:
        counts: the co-occurrence counts.
        settings: see :class:`PcaSettings`.
        make_operator: function that returns the transformed counts as a linear operator, given the dtype of its
            products.
        seed: seed for the random starting block.
        workers: thread pool for everything except the products; the number of threads does not change the result.
        on_round: callback for progress; see :func:`power_iteration`.
    """
    check_counts(counts, settings)
    words = len(counts.vocabulary)
    dtype = product_dtype(settings)
    operator = make_operator(dtype)
    if operator.trace == 0:
        # With PPMI, all transformed counts are 0 if no two words occur near each other more often than expected by
        # chance. With standardisation, they are 0 if the entries within each row are equal.
        remedies = ["Count more text"]
        remedies += ["omit `standardize`"] if settings.standardize else []
        remedies += ["use `transform=log`"] if settings.transform == "ppmi" else []
        hint = ", or ".join(remedies) + "."
        raise DataError("all transformed counts are 0, so there is nothing to analyse", hint=hint)
    pairs = power_iteration(
        operator.moments,
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
    # X^T X has no negative eigenvalues, so a negative value is a rounding error.
    eigenvalues = np.maximum(pairs.values, 0)
    vectors = operator.forward(pairs.vectors)
    weight = settings.eigenvalue_weight
    weights = cosine_weights(
        pairs.values, pairs.vectors, vectors, weight, settings.equalize, settings.negative_weight
    ).astype(np.float64)
    vectors *= eigenvalue_factors(pairs.values, weight)
    vectors *= weights.astype(dtype)
    if settings.spelling_weight:
        vocabulary = counts.vocabulary
        vectors = improve_rare_words(vectors, vocabulary.words, vocabulary.counts, settings.spelling_weight, workers)
    if settings.normalize:
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
    return Embeddings(
        vectors.astype(np.float32),
        counts.vocabulary,
        eigenvalues=eigenvalues.astype(np.float64),
        residuals=pairs.residuals.astype(np.float64),
        column_weights=weights,
        explained=(eigenvalues / operator.trace).astype(np.float64),
        settings=asdict(settings),
        details={"products": pairs.vectors_multiplied},
        made_from=counts.to_artifact().header,
        seed=seed,
    )
