"""Principal components of texts, found without labels (latent semantic analysis, Deerwester et al. 1990).

A text is the vector of its distinct n-grams, each weighted by its importance

    i_g = log((N + 1) / n_g)^2

for an n-gram in n_g of N texts, scaled to length 1. With X = U S V' the leading singular vectors of these rows,
a text has the components F = X V = U S. What is linear in them is linear in the n-grams too:

    F b = X (V b) = X (X' U S^-1 b),

so a model of the components becomes a weight for each n-gram, also for those that no labelled text has: they get
theirs from the company they keep.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.pca.operators import RowOperator
from nlptx.pca.power_iteration import power_iteration
from nlptx.runtime.workers import Workers

# Relative residual of an eigenpair; a text's components need not be exact to tell texts apart.
_TOLERANCE = 1e-2
# Texts for each component at least.
_TEXTS_PER_COMPONENT = 4
# Share of the size of a result that may be but rounding, in float32.
_ROUNDING = 1e-5


@dataclass(frozen=True)
class TextComponents:
    """The components of some texts.

    Args:
        rows: (T, G) float32, the texts X.
        scores: (T, K) float32, their components less the mean, all scaled so that their mean square is 1.
        lift: (T, K) float32, what turns a linear model of the scores into one of n-grams, see :meth:`to_ngrams`.
        mean: (K,) float32, taken off the components.
    """

    rows: sp.csr_matrix
    scores: NDArray[np.float32]
    lift: NDArray[np.float32]
    mean: NDArray[np.float32]

    def own_outputs(self, slopes: NDArray) -> NDArray:
        """Return (T, E): how much of each text's output of a model ``scores @ slopes`` comes from its own row.

        The output x_t' X' a, with a the product of lift and slopes, is a sum over all texts; the term of the text
        itself is |x_t|^2 a_t, and a text from elsewhere has no such term.
        """
        return self.lift @ slopes

    def to_ngrams(self, slopes: NDArray) -> tuple[NDArray, NDArray]:
        """Turn a model ``scores @ slopes`` (K, E) into weights (G, E) and a bias (E,): ``rows @ weights + bias``."""
        return self.rows.T @ (self.lift @ slopes), -self.mean @ slopes


def importance(seen: NDArray[np.integer], texts: int, least: int) -> NDArray[np.float32]:
    """Return (G,) importances of n-grams found in ``seen`` of so many texts; 0 for those in fewer than ``least``."""
    weights = np.log((texts + 1) / np.maximum(seen, 1)) ** 2
    return np.where(seen >= least, weights, 0).astype(np.float32)


def weighted_rows(presence: sp.csr_matrix, weights: NDArray[np.float32]) -> sp.csr_matrix:
    """Return (T, G) float32 rows of length 1 (or 0): the n-grams of each text, weighted."""
    data = weights[presence.indices]
    lengths = np.sqrt(np.add.reduceat(np.append(data * data, 0), presence.indptr[:-1]))
    counts = np.diff(presence.indptr)
    lengths[(counts == 0) | (lengths == 0)] = 1
    scaled = data / np.repeat(lengths, counts)
    rows = sp.csr_matrix((scaled.astype(np.float32), presence.indices, presence.indptr), presence.shape, copy=True)
    rows.eliminate_zeros()
    return rows


def find_components(
    rows: sp.csr_matrix,
    most: int,
    rng: np.random.Generator,
    workers: Workers,
    on_progress: Callable[[float, str], None] = lambda fraction, detail: None,
) -> TextComponents | None:
    """Find up to ``most`` leading components of texts (T, G); None if there are none that tell them apart.

    Args:
        rows: (T, G) float32, the texts.
        most: largest number of components.
        rng: source of the starting block of the power iteration.
        workers: threads; they do not change the result.
        on_progress: called with the completed fraction and a description of it.

    Raises:
        NlptxError: no convergence.
    """
    texts, grams = rows.shape
    wanted = min(most, texts // _TEXTS_PER_COMPONENT, grams)
    if not wanted or not rows.nnz:
        return None
    # What RowOperator makes of the transposed rows is X X' / G.
    gram = RowOperator(rows.T.tocsr(), False, np.float32, workers)
    found = multiplied = 0

    def product(block: NDArray) -> NDArray:
        nonlocal multiplied
        multiplied += block.shape[1]
        # The first half of the work is a basis of about twice as many vectors as are wanted.
        fraction = max(found / wanted, min(multiplied / (4 * wanted), 0.5))
        on_progress(fraction, f"{found} of {wanted}")
        return gram.moments(block)

    def on_round(count: int, residual: float) -> None:
        nonlocal found
        found = count

    pairs = power_iteration(
        product, texts, wanted, tolerance=_TOLERANCE, rng=rng, dtype=np.float32, workers=workers, on_round=on_round
    )
    kept = pairs.values > _ROUNDING * pairs.values[0]
    singular = np.sqrt(pairs.values[kept] * np.float32(grams))
    left = pairs.vectors[:, kept]
    scores = left * singular
    mean = scores.mean(axis=0)
    size = np.linalg.norm(scores)
    scores -= mean
    spread = float(np.linalg.norm(scores))
    if spread <= _ROUNDING * size:
        return None  # all texts are alike
    scale = float(np.sqrt(scores.size)) / spread
    scores *= scale
    return TextComponents(rows, scores, left * (scale / singular), mean * scale)
