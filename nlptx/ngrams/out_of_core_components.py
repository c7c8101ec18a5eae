"""LSA components of many texts, computed in the space of the n-grams.

The components are those of :mod:`nlptx.ngrams.lsa`, where the power iteration finds the eigenvectors U of X X'. The
length of these vectors is the number of texts. With many texts, there are fewer frequent n-grams than texts, so this
module finds the eigenvectors V of X' X instead. Only products with X are needed, so X may be in a file. The components
F = X V are never stored, because a linear model F b + c on the components is also a linear model on the n-grams, with
the weights V b.

Let D be the diagonal matrix of the text weights, and let X' D X V = V L, where the diagonal matrix L contains the
eigenvalues. Then the weights V b are equal to X' D (X V L^-1 b). The row x_t of text t has unit norm, so text t
contributes d_t (x_t V L^-1 b) to its own output, where d_t is its weight. Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.lsa import ROUNDING, TEXTS_PER_COMPONENT, TOLERANCE_OF_MANY, leading_eigenpairs
from nlptx.ngrams.occurrence_blocks import OccurrenceBlocks
from nlptx.runtime.workers import SERIAL, Store, Workers


@dataclass(frozen=True)
class WeightedRows:
    """The matrix X = S N W, with one row per text. Rows of texts that are left out are 0; the others have unit norm.

    Args:
        blocks: matrix N, (texts, G), of zeros and ones.
        inverse_norms: (texts,) float32 diagonal of S: 1 / (norm of the row of N W), or 0 if the text is left out.
        importance: (G,) float32 diagonal of W.
        text_weights: (texts,) float32 weight of each text.
    """

    blocks: OccurrenceBlocks
    inverse_norms: NDArray[np.float32]
    importance: NDArray[np.float32]
    text_weights: NDArray[np.float32]

    @classmethod
    def of(
        cls,
        blocks: OccurrenceBlocks,
        importance: NDArray[np.float32],
        kept: NDArray[np.bool_],
        text_weights: NDArray[np.float64] | None,
    ) -> WeightedRows:
        """Return the matrix without the texts for which the mask ``kept`` (texts,) is False."""
        squares = blocks.forward((importance * importance)[:, None])[:, 0]
        kept = kept & (squares > 0)
        inverse_norms = np.where(kept, 1 / np.sqrt(np.where(kept, squares, 1)), 0).astype(np.float32)
        weights = np.ones(len(inverse_norms)) if text_weights is None else text_weights
        return cls(blocks, inverse_norms, importance, weights.astype(np.float32))

    def weighted_sum(self) -> NDArray[np.float64]:
        """Return the sum of the rows, each multiplied by the weight of its text, (G,)."""
        row_scale = (self.inverse_norms * self.text_weights)[:, None]
        return self.blocks.transposed(lambda rows: row_scale[rows], 1)[:, 0] * self.importance

    def moments(self, b: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return X' D X b, (G, K), for b (G, K)."""
        inner = self.importance[:, None] * b
        scale = (self.inverse_norms * self.inverse_norms * self.text_weights)[:, None]
        return self.blocks.sum(_moments_of, (inner, scale), b.shape) * self.importance[:, None]

    def forward(self, b: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return X b, (texts, K), for b (G, K)."""
        return self.blocks.forward(self.importance[:, None] * b) * self.inverse_norms[:, None]

    def stored(self, store: Store, workers: Workers = SERIAL) -> WeightedRows:
        """Return the matrix with its blocks in files; see :meth:`.OccurrenceBlocks.stored`."""
        return replace(self, blocks=self.blocks.stored(store, workers))


def _moments_of(
    shared: tuple[NDArray[np.float32], NDArray[np.float32]], rows: slice, block: sp.csr_matrix
) -> NDArray[np.float32]:
    """Return N_i' D S^2 N_i b, (G, K), for a block N_i of rows, given b (G, K) and D S^2 (texts, 1)."""
    b, scale = shared
    return block.T @ (block @ b * scale[rows])


@dataclass(frozen=True)
class OutOfCoreComponents:
    """Components of many texts, minus their mean, and divided by a common scale so that their mean square is 1.

    Args:
        directions: (G, K) float32 matrix V, divided by the scale of the components.
        mean: (K,) float32 mean of X V, divided by the scale of the components.
        inverse_values: (K,) float32 inverses of the eigenvalues of X' D X.
    """

    directions: NDArray[np.float32]
    mean: NDArray[np.float32]
    inverse_values: NDArray[np.float32]

    def to_ngrams(self, coefficients: NDArray) -> tuple[NDArray[np.float32], NDArray]:
        """Convert a linear model on the components, with coefficients (K, E), to weights (G, E) and a bias (E,)."""
        return (self.directions @ coefficients).astype(np.float32), -self.mean @ coefficients

    def self_outputs(self, rows: WeightedRows, coefficients: NDArray) -> NDArray[np.float32]:
        """Return the contribution (texts, E) of each text to its own output in a model with coefficients (K, E)."""
        self_outputs = rows.forward(
            (self.directions @ (self.inverse_values[:, None] * coefficients)).astype(np.float32)
        )
        return self_outputs * rows.text_weights[:, None]


def find_components_out_of_core(
    parts: Sequence[WeightedRows],
    max_components: int,
    rng: np.random.Generator,
    workers: Workers,
    on_progress: Callable[[float, str], None],
) -> OutOfCoreComponents | None:
    """Return up to ``max_components`` leading components of texts, or None if no components distinguish the texts.

    Args:
        parts: the matrix X of the texts with labels and, if there are any, the matrix X of the texts without labels.
        max_components: maximum number of components.
        rng: source of randomness for the initial block of the power iteration.
        workers: threads, or a cluster, that compute the products; they do not change the result.
        on_progress: called with the completed fraction and a description of the progress.

    Raises:
        NlptxError: the power iteration does not converge.
        OutputError: the matrices cannot be stored for the cluster.
    """
    texts = sum(int(np.count_nonzero(part.inverse_norms)) for part in parts)
    total = float(sum(part.text_weights[part.inverse_norms > 0].sum(dtype=np.float64) for part in parts))
    grams = len(parts[0].importance)
    components = min(max_components, texts // TEXTS_PER_COMPONENT, grams)
    if not components or not total:
        return None
    if workers.store is not None:
        parts = [part.stored(workers.store, workers) for part in parts]

    def product(block: NDArray) -> NDArray:
        return np.asarray(sum(part.moments(block) for part in parts) / total, np.float32)

    pairs = leading_eigenpairs(product, grams, components, TOLERANCE_OF_MANY, rng, workers, on_progress)
    kept = pairs.values > ROUNDING * pairs.values[0]
    values, directions = pairs.values[kept].astype(np.float64), pairs.vectors[:, kept]
    mean = sum(part.weighted_sum() for part in parts) / total @ directions
    # The eigenvalues are the mean squares of the components.
    size, variance = float(values.sum()), float(values.sum() - mean @ mean)
    if variance <= ROUNDING * size:
        return None  # the components of all texts are equal
    scale = np.sqrt(len(values) / variance)
    return OutOfCoreComponents(
        (directions * scale).astype(np.float32),
        (mean * scale).astype(np.float32),
        (1 / (total * values)).astype(np.float32),
    )
