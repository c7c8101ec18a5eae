"""A linear model of the n-grams of a text: logistic regression on their log-count ratios (NB-LR).

    z = b + sum over the distinct n-grams g of the text of w_g r_g

with r the ratios and w learned (Wang & Manning 2012; Mesnil et al. 2014).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.nn.activations import sigmoid

# Strength of the penalty |w|^2 / (2 STRENGTH) beside the summed log-loss.
STRENGTH = 1.0
_ITERATIONS = 40


def fit_linear(
    presence: sp.csr_matrix, ratios: NDArray[np.float32], targets: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Fit by L-BFGS the weights that minimise the log-loss plus a penalty.

    Args:
        presence: (texts, G) float32, 1 where a text has an n-gram.
        ratios: (G, E); E = 1 means two classes and the logistic loss, else softmax over E classes.
        targets: (texts,) class of each.

    Returns:
        the products w r, (G, E), and b, (E,).
    """
    from scipy.optimize import minimize  # slow to import, and bad data should be told at once

    grams = presence.shape[1]
    width = ratios.shape[1]
    transposed = presence.T.tocsr()
    wanted = targets[:, None].astype(np.float32) if width == 1 else np.eye(width, dtype=np.float32)[targets]

    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = flat[:-width].reshape(grams, width)
        z = presence @ (weights * ratios).astype(np.float32) + flat[-width:]
        p, loss = _sigmoid(z, targets) if width == 1 else _softmax(z, targets)
        error = (p - wanted).astype(np.float32)
        gradient = np.empty_like(flat)
        gradient[:-width] = ((transposed @ error) * ratios + weights / STRENGTH).ravel()
        gradient[-width:] = error.sum(axis=0)
        return loss + float(flat[:-width] @ flat[:-width]) / (2 * STRENGTH), gradient

    start = np.zeros((grams + 1) * width)
    found = minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": _ITERATIONS}).x
    weights = found[:-width].reshape(grams, width) * ratios
    return weights.astype(np.float32), found[-width:].astype(np.float32)


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
