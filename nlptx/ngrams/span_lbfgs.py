"""L-BFGS for a linear model with far more weights than texts.

The objective is the loss, a function of the outputs z = X w + b, plus |w|^2 / (2 C). X has one row per text. The
gradient of the objective with respect to w is X' e + w / C, where e is the derivative of the loss with respect to z. If
the search starts at 0, all weights and directions in L-BFGS (:mod:`nlptx.lbfgs`) therefore have the form X' a. They are
linear combinations of the rows of X; the array a contains the coefficients, one number per text and output. L-BFGS
needs only the array a and its image K a, with K = X X':

- the outputs are K a + b, and |w|^2 = a' K a;
- the gradient is X' (e + a / C), so one product with K gives its image, K e + (K a) / C;
- the inner product of X' a and X' c is a' K c.

So the length of all vectors is the number of texts instead of the number of weights. Because the image of a direction
shows how a step in this direction changes the outputs, the line search needs no products with K. The biases b are
stored as one more row of a; their image is b.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nlptx.lbfgs import minimise_in_basis


def minimise_in_span(
    gram: Callable[[NDArray[np.float64]], NDArray],
    loss_of: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    shape: tuple[int, int],
    inverse_penalty: float,
    tolerance: float,
    max_iterations: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the array a (texts, E) and the bias (E,) that minimise a convex loss plus the penalty.

    Args:
        gram: function that multiplies an array (texts, E) by K.
        loss_of: function that returns the summed loss of outputs (texts, E), and its gradient (texts, E).
        shape: (texts, E), the shape of the outputs.
        inverse_penalty: C in the penalty |w|^2 / (2 C).
        tolerance: the search ends when the next step is expected to decrease the objective by at most this fraction of
            its value.
        max_iterations: maximum number of iterations.
    """
    texts, width = shape

    def value_at(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        a, image = point.reshape(2, texts + 1, width)
        loss, error = loss_of(image[:-1] + image[-1])
        return loss + float(np.vdot(a[:-1], image[:-1])) / (2 * inverse_penalty), error

    def gradient_at(point: NDArray[np.float64], error: NDArray[np.float64]) -> NDArray[np.float64]:
        gradient = point.reshape(2, texts + 1, width) / inverse_penalty
        gradient[0, :-1] += error
        gradient[1, :-1] += gram(error)
        gradient[:, -1] = error.sum(axis=0)
        return gradient.reshape(2, -1)

    # The second derivative is at least 1 / C in the directions of the weights, and can be smaller only in the direction
    # of the bias. Therefore the scale factor of :func:`.minimise_in_basis` is limited to C. Without this limit, the
    # component of the array a that K maps to 0 would grow, although it affects no weight.
    start = np.zeros((2, (texts + 1) * width))
    point = minimise_in_basis(value_at, gradient_at, start, tolerance, max_iterations, max_scale=inverse_penalty)
    a = point[0].reshape(texts + 1, width)
    return a[:-1], a[-1]
