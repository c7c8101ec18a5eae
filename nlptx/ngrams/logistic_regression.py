"""Linear models of a text, both logistic regressions: of its n-grams' log-count ratios, and of its components.

NB-LR (Wang & Manning 2012; Mesnil et al. 2014):

    z = b + sum over the distinct n-grams g of a text of T words of w_g r_g / sqrt(T)

with r the ratios and w learned. As a plain sum, a long text would be sure whatever it says, and sentences and reviews
would not go together in one model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.nn.activations import sigmoid

# C in the penalty |w|^2 / (2 C) beside the summed log-loss: the inverse of its strength; of ratios, of components.
INVERSE_PENALTY = 10.0
COMPONENT_INVERSE_PENALTY = 0.03
MAX_ITERATIONS = 40


def fit_linear(
    rows: sp.csr_matrix,
    ratios: NDArray[np.float32],
    targets: NDArray[np.int64],
    on_iteration: Callable[[], None] = lambda: None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fit the model of n-grams.

    Args:
        rows: (texts, G) float32, 1 / sqrt(T) where a text has an n-gram.
        ratios: (G, E); E = 1 means two classes and the logistic loss, else softmax over E classes.
        targets: (texts,) class of each.
        on_iteration: called after each of at most MAX_ITERATIONS iterations.

    Returns:
        the products w r, (G, E), and b, (E,).
    """
    transposed = rows.T.tocsr()
    weights, bias = _minimise(
        lambda weights: rows @ (weights * ratios).astype(np.float32),
        lambda error: (transposed @ error) * ratios,
        ratios.shape,
        targets,
        INVERSE_PENALTY,
        on_iteration,
    )
    return (weights * ratios).astype(np.float32), bias.astype(np.float32)


def fit_dense(
    features: NDArray[np.float32], targets: NDArray[np.int64], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit the model of components: slopes (K, E) and bias (E,).

    Args:
        features: (texts, K), of mean square 1.
        targets: (texts,) class of each.
        width: E; 1 means two classes and the logistic loss, else softmax over E classes.
    """
    return _minimise(
        lambda weights: features @ weights.astype(np.float32),
        lambda error: features.T @ error,
        (features.shape[1], width),
        targets,
        COMPONENT_INVERSE_PENALTY,
    )


def _minimise(
    forward: Callable[[NDArray], NDArray],
    backward: Callable[[NDArray], NDArray],
    shape: tuple[int, ...],
    targets: NDArray[np.int64],
    inverse_penalty: float,
    on_iteration: Callable[[], None] = lambda: None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find by L-BFGS the weights (G, E) and bias (E,) that minimise the log-loss plus the penalty.

    Args:
        forward: from weights to the outputs of the texts (T, E), without the bias.
        backward: from an error (T, E) float32 to the gradient of the weights.
        shape: (G, E).
        targets: (texts,) class of each.
        inverse_penalty: C, see INVERSE_PENALTY.
        on_iteration: called after each iteration.
    """
    from scipy.optimize import minimize  # slow to import, and bad data should be told at once

    width = shape[1]
    wanted = targets[:, None].astype(np.float32) if width == 1 else np.eye(width, dtype=np.float32)[targets]

    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat[:-width].reshape(shape)
        z = forward(weights) + flat[-width:]
        p, loss = _sigmoid(z, targets) if width == 1 else _softmax(z, targets)
        error = (p - wanted).astype(np.float32)
        gradient = np.empty_like(flat)
        gradient[:-width] = (backward(error) + weights / inverse_penalty).ravel()
        gradient[-width:] = error.sum(axis=0)
        return loss + float(flat[:-width] @ flat[:-width]) / (2 * inverse_penalty), gradient

    start = np.zeros((shape[0] + 1) * width)
    found = minimize(
        loss_and_gradient,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MAX_ITERATIONS},
        callback=lambda _: on_iteration(),
    ).x
    return found[:-width].reshape(shape), found[-width:]


def _sigmoid(z: NDArray, targets: NDArray[np.int64]) -> tuple[NDArray, float]:
    # log(1 + exp(-s)) for the margin s, positive on the right side.
    margins = z[:, 0] * (2 * targets - 1)
    return sigmoid(z), float(np.logaddexp(0, -margins).sum())


def _softmax(z: NDArray, targets: NDArray[np.int64]) -> tuple[NDArray, float]:
    z = z - z.max(axis=1, keepdims=True)
    p = np.exp(z)
    total = p.sum(axis=1, keepdims=True)
    loss = np.log(total[:, 0]) - z[np.arange(len(z)), targets]
    return p / total, float(loss.sum())
