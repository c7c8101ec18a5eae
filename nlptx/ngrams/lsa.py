"""LSA components of texts, computed without labels (latent semantic analysis, Deerwester et al. 1990).

Each text is represented by a row vector with one entry per n-gram. The entry is 0 if the text does not contain the
n-gram, and otherwise the importance of the n-gram. The importance of n-gram g is

    i_g = (log((N + 1) / n_g))^2,

where n_g is the number of texts, out of N, that contain n-gram g. The row of each text is then scaled to unit norm. Let
X be the matrix of the scaled rows, and X = U S V' its truncated singular value decomposition. Then F = X V = U S
contains the components of the texts. A linear function of the components, with the weights b, is also a linear function
of the entries of X:

    F b = X (V b) = X (X' U S^-1 b).

So a linear model on the components determines a weight for every n-gram. If an n-gram occurs in no labelled text, its
weight is determined by the n-grams that occur together with it in unlabelled texts. Axis letters: see
:mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.importance import MANY_TEXTS
from nlptx.ngrams.tiles import Tiles
from nlptx.pca.power_iteration import Eigenpairs, power_iteration
from nlptx.runtime.workers import Workers

# Maximum relative residual of an eigenpair, for few texts and for many texts. Both values are large, because more
# accurate components would not distinguish texts any better.
_TOLERANCE, TOLERANCE_OF_MANY = 0.1, 0.2
# The power iteration checks the residuals for the first time when its basis has about this many vectors per eigenpair.
_FIRST_CHECK = 1.7
# Minimum number of texts per component.
TEXTS_PER_COMPONENT = 4
# An eigenvalue below this fraction of the largest one may consist only of float32 rounding errors. Likewise, the
# components minus their mean may consist only of rounding errors if their norm is below this fraction of the norm
# before subtracting the mean. (In :mod:`.out_of_core_components`, the sums of squares are compared instead, because
# they are subtracted from each other.)
ROUNDING = 1e-5
# Number of vectors that are multiplied by X X' at a time. With many texts, the power iteration uses blocks of this
# width too: a block of 32 vectors takes less time per vector than one of 16, and hardly more vectors are needed.
_COLUMNS = 32


@dataclass(frozen=True)
class TextComponents:
    """LSA components of a set of texts.

    Args:
        rows: (texts, G) float32 matrix X of the texts.
        scores: (texts, K) float32 components of the texts, minus their mean, and divided by a common scale so that
            their mean square is 1. The mean and the mean square are weighted by the text weights.
        lift: (texts, K) float32 matrix that converts a linear model on the scores to a linear model on the n-grams; see
            :meth:`to_ngrams`.
        mean: (K,) float32 mean that was subtracted from the components, divided by the same scale as ``scores``.
    """

    rows: sp.csr_matrix
    scores: NDArray[np.float32]
    lift: NDArray[np.float32]
    mean: NDArray[np.float32]

    def self_outputs(self, coefficients: NDArray) -> NDArray:
        """Return what each text contributes to its own output in the model ``scores @ coefficients``, (texts, E).

        With a = lift @ coefficients, the output for text t is x_t' X' a, which is a sum over all texts. The
        contribution of text t itself is the term |x_t|^2 a_t, which is equal to a_t because x_t has unit norm. The
        output for a text that is not in ``rows`` contains no such term.
        """
        return self.lift @ coefficients

    def to_ngrams(self, coefficients: NDArray) -> tuple[NDArray, NDArray]:
        """Convert the linear model ``scores @ coefficients`` to the model ``rows @ weights + bias``.

        The coefficients are (K, E), the weights (G, E) and the bias (E,). Without text weights, the outputs of the two
        models are equal only up to the residuals of the eigenpairs.
        """
        return self.rows.T @ (self.lift @ coefficients), -self.mean @ coefficients


def find_components(
    rows: sp.csr_matrix,
    max_components: int,
    rng: np.random.Generator,
    workers: Workers,
    on_progress: Callable[[float, str], None] = lambda fraction, detail: None,
    text_weights: NDArray[np.float64] | None = None,
) -> TextComponents | None:
    """Return up to ``max_components`` leading components of texts, or None if no components distinguish the texts.

    A text of weight w counts as w equal rows. Let D be the diagonal matrix of the square roots of the weights. Then the
    decomposition is D X = U S V', and the components are F = X V. A linear model F b on the components has the n-gram
    weights X' D U S^-1 b.

    Args:
        rows: (texts, G) float32 matrix X with one row per text.
        max_components: maximum number of components.
        rng: source of randomness for the initial block of the power iteration.
        workers: pool of threads or processes; its size does not change the result.
        on_progress: called with the completed fraction and a description of the progress.
        text_weights: (texts,) weight of each text, or None.

    Raises:
        NlptxError: the power iteration does not converge.
    """
    texts, grams = rows.shape
    components = min(max_components, texts // TEXTS_PER_COMPONENT, grams)
    if not components or not rows.nnz:
        return None
    many = texts >= MANY_TEXTS
    roots = None if text_weights is None else np.sqrt(text_weights / text_weights.mean()).astype(np.float32)
    tiles = Tiles(rows if roots is None else _scaled(rows, roots), workers)
    tolerance, width = (TOLERANCE_OF_MANY, _COLUMNS) if many else (_TOLERANCE, 0)
    pairs = leading_eigenpairs(tiles.gram, texts, components, tolerance, rng, workers, on_progress, width)
    kept = pairs.values > ROUNDING * pairs.values[0]
    singular = np.sqrt(pairs.values[kept])
    left = pairs.vectors[:, kept]
    if roots is None:
        scores, lift = left * singular, left
        mean = scores.mean(axis=0)
    else:
        lift = left * roots[:, None]
        scores = _products(rows, lift / singular)
        mean = np.average(scores, axis=0, weights=text_weights).astype(np.float32)
    size = _norm(scores, roots)
    scores -= mean
    spread = _norm(scores, roots)
    if spread <= ROUNDING * size:
        return None  # the components of all texts are equal
    scale = float(np.sqrt(scores.size)) / spread
    scores *= scale
    return TextComponents(rows, scores, lift * (scale / singular), mean * scale)


def leading_eigenpairs(
    product: Callable[[NDArray], NDArray],
    size: int,
    count: int,
    tolerance: float,
    rng: np.random.Generator,
    workers: Workers,
    on_progress: Callable[[float, str], None],
    block: int = 0,
) -> Eigenpairs:
    """Find the leading eigenpairs of a matrix by :func:`.power_iteration` in float32, and report the progress.

    Args:
        product: function that returns the product of the matrix and a block of vectors.
        size: number of rows and columns of the matrix.
        count: number of eigenpairs to find.
        tolerance: maximum relative residual of the eigenpairs.
        rng: source of randomness for the initial block.
        workers: pool of threads or processes; its size does not change the result.
        on_progress: called with the completed fraction and a description of the progress.
        block: number of vectors iterated together; 0 for an automatic choice.

    Raises:
        NlptxError: the power iteration does not converge.
    """
    converged = multiplied = 0

    def reported_product(vectors: NDArray) -> NDArray:
        nonlocal multiplied
        multiplied += vectors.shape[1]
        # Building the basis (about two vectors per component) is reported as half of the work.
        on_progress(max(converged / count, min(multiplied / (4 * count), 0.5)), f"{converged} of {count}")
        return product(vectors)

    def on_round(found: int, residual: float) -> None:
        nonlocal converged
        converged = found

    return power_iteration(
        reported_product,
        size,
        count,
        tolerance=tolerance,
        first_check=_FIRST_CHECK,
        rng=rng,
        dtype=np.float32,
        block=block,
        workers=workers,
        on_round=on_round,
    )


def _scaled(rows: sp.csr_matrix, factors: NDArray[np.float32]) -> sp.csr_matrix:
    """Return the matrix, with each row multiplied by its factor."""
    data = rows.data * np.repeat(factors, np.diff(rows.indptr))
    return sp.csr_matrix((data, rows.indices, rows.indptr), rows.shape)


def _products(rows: sp.csr_matrix, block: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return X X' times a block (texts, K), computed a few columns at a time to save memory."""
    starts = range(0, block.shape[1], _COLUMNS)
    return np.hstack([rows @ (rows.T @ block[:, start : start + _COLUMNS]) for start in starts])


def _norm(scores: NDArray[np.float32], roots: NDArray[np.float32] | None) -> float:
    """Return the Frobenius norm of the scores, after multiplying each row by the square root of its text's weight."""
    return float(np.linalg.norm(scores if roots is None else scores * roots[:, None]))
