"""Fits the two linear models: the ratio model, on log-count ratios, and the LSA model, on LSA components.

Both are logistic regressions that classify texts. The ratio model is NB-LR (Wang & Manning 2012; Mesnil et al. 2014).
With ratios r, learned weights w and a bias b, its output is

    z = b + (sum of w_g r_g / sqrt(T) over the distinct n-grams g of a text of T words)

Without the division by sqrt(T), the outputs for long texts would always be large, and the same model could not fit both
sentences and reviews. Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.lbfgs import minimise
from nlptx.ngrams.span_lbfgs import minimise_in_span
from nlptx.nn.activations import sigmoid
from nlptx.nn.losses import BinaryCrossEntropy, CrossEntropy

# The linear models minimise the summed log-loss plus a penalty on their weights w, |w|^2 / (2 c). The inverse penalty c
# is INVERSE_PENALTY for the ratio model, and COMPONENT_INVERSE_PENALTY for the LSA model.
INVERSE_PENALTY = 10.0
COMPONENT_INVERSE_PENALTY = 0.03
# L-BFGS stops after MAX_ITERATIONS, or when it expects the next step to decrease the objective f (loss and penalty) by
# at most TOLERANCE * max(f, 1). For the ratio model, the tolerance is larger if there are at least _MANY_TEXTS texts.
# The larger tolerance saves 40% of the iterations and hardly changes the model.
MAX_ITERATIONS, TOLERANCE = 100, 1e-7
_MANY_TEXTS, _TOLERANCE_OF_MANY = 7_000, 1e-5


def fit_sparse(
    rows: sp.csr_matrix,
    ratios: NDArray[np.float32],
    targets: NDArray,
    text_weights: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fit the ratio model.

    Args:
        rows: (texts, G) float32 matrix that is 1 / sqrt(T) where a text of T words contains an n-gram, and 0 elsewhere.
        ratios: (G, E) ratios. With one-dimensional ``targets``, E = 1 means the logistic loss for two classes; E > 1
            means a softmax over E classes.
        targets: (texts,) class of each text; or (texts, E), True where a text has a class: the loss is then the sum of
            E logistic losses.
        text_weights: (texts,) weight of the loss of each text, or None.

    Returns:
        The products w r, (G, E), and the bias b, (E,).
    """
    transposed, squared = rows.T.tocsr(), ratios * ratios
    loss_of = weighted(text_losses(ratios.shape[1], targets), targets, text_weights)
    coefficients, bias = minimise_in_span(
        lambda coefficients: rows @ ((transposed @ coefficients.astype(np.float32)) * squared),
        loss_of,
        (rows.shape[0], ratios.shape[1]),
        INVERSE_PENALTY,
        _TOLERANCE_OF_MANY if rows.shape[0] >= _MANY_TEXTS else TOLERANCE,
        MAX_ITERATIONS,
    )
    # The inputs of the model are X = rows * ratios. L-BFGS finds w = X' a, where a is ``coefficients``, so the products
    # w r are ratios^2 * (rows' a).
    return (transposed @ coefficients.astype(np.float32)) * squared, bias.astype(np.float32)


def fit_dense(
    features: NDArray[np.float32],
    targets: NDArray,
    width: int,
    text_weights: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit the LSA model. Return its weights (K, E) and bias (E,).

    Args:
        features: (texts, K) LSA components of each text, with a mean square of 1.
        targets: class or classes of each text, as for :func:`fit_sparse`.
        width: E, the number of outputs. Together with the targets, this number determines the loss, as for
            :func:`fit_sparse`.
        text_weights: (texts,) weight of the loss of each text, or None.
    """
    return _minimise(
        lambda weights: features @ weights.astype(np.float32),
        lambda error: features.T @ error,
        (features.shape[1], width),
        targets,
        COMPONENT_INVERSE_PENALTY,
        text_weights=text_weights,
    )


def _minimise(
    forward: Callable[[NDArray], NDArray],
    backward: Callable[[NDArray], NDArray],
    shape: tuple[int, ...],
    targets: NDArray,
    inverse_penalty: float,
    text_weights: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights (K, E) and bias (E,) that minimise the log-loss plus the penalty. L-BFGS finds them.

    Args:
        forward: function that computes the outputs (texts, E) for given weights, without adding the bias.
        backward: function that converts the gradient with respect to the outputs, (texts, E) float32, to the gradient
            with respect to the weights, (K, E).
        shape: shape of the weights, (K, E).
        targets: class or classes of each text, as for :func:`fit_sparse`.
        inverse_penalty: the inverse penalty c; see INVERSE_PENALTY.
        text_weights: (texts,) weight of the loss of each text, or None.
    """
    width = shape[1]
    loss_of = weighted(text_losses(width, targets), targets, text_weights)

    # For a matrix of 5 columns, an OpenBLAS kernel for AVX-512 also computes with uninitialised numbers, and discards
    # the results. NumPy's warning about invalid operations on uninitialised numbers is therefore turned off.
    @np.errstate(invalid="ignore")
    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat[:-width].reshape(shape)
        z = forward(weights) + flat[-width:]
        loss, error = loss_of(z)
        error = error.astype(np.float32)
        gradient = np.empty_like(flat)
        gradient[:-width] = (backward(error) + weights / inverse_penalty).ravel()
        gradient[-width:] = error.sum(axis=0, dtype=np.float64)
        return loss + float(flat[:-width] @ flat[:-width]) / (2 * inverse_penalty), gradient

    start = np.zeros((shape[0] + 1) * width)
    solution = minimise(loss_and_gradient, start, TOLERANCE, MAX_ITERATIONS)
    return solution[:-width].reshape(shape), solution[-width:]


def text_losses(width: int, targets: NDArray) -> Callable[[NDArray, NDArray], tuple[NDArray, NDArray]]:
    """Return a function that computes the loss of each text and its gradient; see :func:`fit_sparse`."""
    if targets.ndim == 2:
        return BinaryCrossEntropy(width).value_and_gradient
    return _logistic_loss if width == 1 else CrossEntropy(width).value_and_gradient


def weighted(
    loss_of: Callable[[NDArray, NDArray], tuple[NDArray, NDArray]],
    targets: NDArray,
    text_weights: NDArray[np.float64] | None,
) -> Callable[[NDArray], tuple[float, NDArray]]:
    """Return a function that computes the weighted sum of the losses, and its gradient, for outputs (texts, E)."""

    def summed(z: NDArray) -> tuple[float, NDArray]:
        losses, error = loss_of(z, targets)
        if text_weights is not None:
            losses, error = losses * text_weights, error * text_weights[:, None]
        return float(losses.sum()), error

    return summed


def _logistic_loss(z: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
    """Return the loss of each text, (texts,), and its gradient (texts, 1), for outputs z (texts, 1)."""
    # The loss is log(1 + exp(-m)), where the margin m is positive if the prediction is correct.
    margins = z[:, 0] * (2 * targets - 1)
    return np.logaddexp(0, -margins), sigmoid(z) - targets[:, None]
