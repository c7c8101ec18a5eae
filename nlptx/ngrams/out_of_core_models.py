"""Logistic regressions on the n-grams of many texts. The texts are stored in blocks, which may be in a file.

The objectives are those of :mod:`nlptx.ngrams.logistic_regression`. For the ratio model, the vectors of L-BFGS in that
module have one entry per text and output. In this module, all vectors have one entry per weight, because the number of
weights is limited by default (see _MAX_WEIGHTS in :mod:`.out_of_core`), and the number of texts is not. Each evaluation
of the objective reads every block only once: the outputs for the texts of the block, their loss and the gradient are
computed together.

L-BFGS converges slowly if the curvature of the loss differs greatly between the weights. The curvature does differ
greatly between frequent and rare n-grams, and even more between n-grams and a lexicon. In the ratio model, each weight
is therefore measured in units of (h + 1/C)^(-1/2) (Jacobi preconditioning). Here C is the inverse penalty, and h is an
estimate of the second derivative of the loss with respect to this weight (exact for two classes if all outputs are 0).
Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.lbfgs import minimise
from nlptx.ngrams.logistic_regression import (
    COMPONENT_INVERSE_PENALTY,
    INVERSE_PENALTY,
    TOLERANCE,
    text_losses,
)
from nlptx.ngrams.occurrence_blocks import OccurrenceBlocks
from nlptx.ngrams.out_of_core_components import OutOfCoreComponents, WeightedRows
from nlptx.ngrams.ratio_model import RatioModel

# Maximum number of L-BFGS iterations for the ratio model and for the LSA model. More iterations do not improve the
# models; see tests/benchmarks/TRIED.md.
_RATIO_ITERATIONS, _COMPONENT_ITERATIONS = 30, 50
# Maximum of the second derivative of the logistic loss with respect to the output.
_MAX_CURVATURE = 0.25


@dataclass(frozen=True)
class TextLoss:
    """The loss of texts as a function of the outputs for these texts.

    Args:
        targets: (texts,) class of each text, or (texts, E), True where a text has a class.
        weights: (texts,) float64 weight of the loss of each text; 0 for texts that are left out.
        width: E, the number of outputs.
    """

    targets: NDArray
    weights: NDArray[np.float64]
    width: int

    def of_rows(self, rows: slice, z: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return the summed loss of the texts in the slice ``rows``, and its gradient with respect to the outputs."""
        losses, error = text_losses(self.width, self.targets[rows])(z, self.targets[rows])
        weights = self.weights[rows]
        return float(losses @ weights), error * weights[:, None]


def _fit(
    blocks: OccurrenceBlocks,
    row_scale: NDArray[np.float32],
    loss: TextLoss,
    to_ngrams: Callable[[NDArray[np.float64]], tuple[NDArray, NDArray | float]],
    from_ngrams: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray],
    units: NDArray[np.float64],
    inverse_penalty: float,
    max_iterations: int,
    dense: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights (size + d, E) and the bias (E,) that minimise the log-loss plus a penalty. L-BFGS finds them.

    With the weights w (size, E) and v (d, E) and the bias b, the outputs are S N u + D v + o + b, where (u, o) =
    ``to_ngrams(w)``. The penalty is (|w|^2 + |v|^2) / (2 C). The returned weights are w, followed by v.

    Args:
        blocks: the matrix N, (texts, G).
        row_scale: (texts,) diagonal of S, a diagonal matrix.
        loss: loss to minimise, as a function of the outputs.
        to_ngrams: linear function that converts w (size, E) to the weights u (G, E) of the n-grams and an offset o
            (E,).
        from_ngrams: the transpose of ``to_ngrams``, which converts the gradients with respect to u and o to the
            gradient with respect to w.
        units: (size + d,) units in which L-BFGS measures the rows of w and v. The units only affect how fast L-BFGS
            converges.
        inverse_penalty: C in the penalty.
        max_iterations: maximum number of iterations of L-BFGS.
        dense: (texts, d) matrix D; None means that d is 0.
    """
    width, extra = loss.width, 0 if dense is None else dense.shape[1]
    size = len(units) - extra
    unit_of = np.append(units, 1)[:, None]  # the last row belongs to the bias

    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        parameters = flat.reshape(-1, width) * unit_of
        w, v, bias = np.split(parameters, [size, size + extra])
        u, offset = to_ngrams(w)
        u = np.ascontiguousarray(u, np.float32)

        def work(rows: slice, block: sp.csr_matrix) -> tuple[float, NDArray, NDArray, NDArray]:
            scale = row_scale[rows, None]
            z = (block @ u * scale).astype(np.float64) + (offset + bias[0])
            if dense is not None:
                z += dense[rows] @ v
            value, error = loss.of_rows(rows, z)
            grad_dense = np.zeros((0, width)) if dense is None else dense[rows].T @ error
            return value, block.T @ (error.astype(np.float32) * scale), grad_dense, error.sum(axis=0)

        value, grad_u = 0.0, np.zeros((blocks.shape[1], width))
        grad_v, grad_bias = np.zeros((extra, width)), np.zeros(width)
        for more, part, dense_part, bias_part in blocks.map(work):
            value += more
            grad_u += part
            grad_v += dense_part
            grad_bias += bias_part
        gradient = np.concatenate([from_ngrams(grad_u, grad_bias), grad_v, grad_bias[None]])
        gradient[:-1] += parameters[:-1] / inverse_penalty
        return value + float(np.sum(parameters[:-1] ** 2)) / (2 * inverse_penalty), (gradient * unit_of).ravel()

    start = np.zeros(len(unit_of) * width)
    solution = minimise(loss_and_gradient, start, TOLERANCE, max_iterations).reshape(-1, width) * unit_of
    return solution[:-1], solution[-1]


def fit_ratios(
    blocks: OccurrenceBlocks,
    inverse_roots: NDArray[np.float32],
    loss: TextLoss,
    ratios: NDArray[np.float32],
    lexicon_feature: NDArray[np.float32] | None,
) -> RatioModel:
    """Fit the ratio model, as :func:`nlptx.ngrams.ratio_model.fit_ratio_model` does for fewer texts.

    Args:
        blocks: the matrix N, (texts, G).
        inverse_roots: (texts,) float32 1 / sqrt(T) for each text of T words.
        loss: loss to minimise, as a function of the outputs of the model.
        ratios: (G, E) log-count ratios.
        lexicon_feature: (texts, 1) lexicon feature of each text (see :mod:`nlptx.ngrams.lexicon`), or None.
    """
    informative = np.flatnonzero(ratios.any(axis=1))  # n-grams with the ratio 0 do not affect the outputs
    scales = ratios[informative].astype(np.float64)

    def to_ngrams(w: NDArray[np.float64]) -> tuple[NDArray, float]:
        u = np.zeros(ratios.shape, np.float32)
        u[informative] = scales * w
        return u, 0.0

    def from_ngrams(grad_u: NDArray[np.float64], grad_offset: NDArray[np.float64]) -> NDArray:
        return scales * grad_u[informative]

    curvature = np.square(scales).mean(axis=1) * _curvature(blocks, inverse_roots, loss)[informative]
    if lexicon_feature is not None:
        column_curvature = _MAX_CURVATURE * (np.square(lexicon_feature[:, 0], dtype=np.float64) @ loss.weights)
        curvature = np.append(curvature, column_curvature)
    units = 1 / np.sqrt(curvature + 1 / INVERSE_PENALTY)
    weights, bias = _fit(
        blocks, inverse_roots, loss, to_ngrams, from_ngrams, units, INVERSE_PENALTY, _RATIO_ITERATIONS, lexicon_feature
    )
    ratio_weights, _ = to_ngrams(weights[: len(informative)])
    lexicon_slope = np.zeros(loss.width) if lexicon_feature is None else weights[-1]
    return RatioModel(ratios, ratio_weights, bias.astype(np.float32), lexicon_slope.astype(np.float32))


def _curvature(blocks: OccurrenceBlocks, inverse_roots: NDArray[np.float32], loss: TextLoss) -> NDArray[np.float64]:
    """Return an upper bound on the second derivative of the loss with respect to the weight of each n-gram, (G,).

    The bound is for ratios of 1.
    """
    text_curvature = _MAX_CURVATURE * np.square(inverse_roots, dtype=np.float64) * loss.weights
    return blocks.transposed(lambda rows: text_curvature[rows, None].astype(np.float32), 1)[:, 0]


def fit_on_components(
    components: OutOfCoreComponents, rows: WeightedRows, loss: TextLoss
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit the LSA model. Return its weights (K, E) and its bias (E,)."""
    directions, mean = components.directions.astype(np.float64), components.mean.astype(np.float64)
    important = rows.importance[:, None].astype(np.float64)

    def to_ngrams(w: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        return important * (directions @ w), -mean @ w

    def from_ngrams(grad_u: NDArray[np.float64], grad_offset: NDArray[np.float64]) -> NDArray:
        return directions.T @ (important * grad_u) - np.outer(mean, grad_offset)

    return _fit(
        rows.blocks,
        rows.inverse_norms,
        loss,
        to_ngrams,
        from_ngrams,
        np.ones(len(mean)),
        COMPONENT_INVERSE_PENALTY,
        _COMPONENT_ITERATIONS,
    )
