"""L-BFGS for a linear model with far more weights than texts.

The objective is the loss, a function of the outputs z = X w + b, plus |w|^2 / (2 C). X has one row per text. The
gradient of the objective with respect to w is X' e + w / C, where e is the derivative of the loss with respect to z. If
the search starts at 0, all weights and directions in L-BFGS (Nocedal 1980) therefore have the form X' a, where the
array a contains one number per text and output. Only this array and its image K a, with K = X X', are stored:

- the outputs are K a + b, and |w|^2 = a' K a;
- the gradient is X' (e + a / C), so one product with K gives its image, K e + (K a) / C;
- the inner product of X' a and X' c is a' K c.

So the length of all vectors is the number of texts instead of the number of weights. Because the image of a direction
shows how a step in this direction changes the outputs, the line search needs no products with K.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Number of previous steps that determine the next direction.
_HISTORY_LENGTH = 10
# A step is accepted if the objective decreases by at least this fraction of the decrease that the gradient predicts.
_SUFFICIENT_DECREASE = 1e-4
_MAX_HALVINGS = 30


class Vector(NamedTuple):
    """A vector (X' a, b) of weights and biases.

    Args:
        texts: (texts, E) the array a.
        image: (texts, E) its image K a.
        bias: (E,) the biases b.
    """

    texts: NDArray[np.float64]
    image: NDArray[np.float64]
    bias: NDArray[np.float64]

    def dot(self, other: Vector) -> float:
        """Return the inner product of two vectors of weights and biases."""
        return float(np.vdot(self.texts, other.image) + self.bias @ other.bias)

    def plus(self, factor: float, other: Vector) -> Vector:
        """Return this vector plus ``factor`` times another vector."""
        return Vector(*(mine + factor * theirs for mine, theirs in zip(self, other, strict=True)))

    def times(self, factor: float) -> Vector:
        """Return ``factor`` times this vector."""
        return Vector(*(factor * mine for mine in self))


def minimise_in_span(
    gram: Callable[[NDArray[np.float64]], NDArray],
    loss_of: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    shape: tuple[int, int],
    inverse_penalty: float,
    tolerance: float,
    max_iterations: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers a (texts, E) and the bias (E,) that minimise a convex loss plus the penalty.

    Args:
        gram: function that multiplies an array (texts, E) by K.
        loss_of: function that returns the summed loss of outputs (texts, E), and its gradient (texts, E).
        shape: (texts, E), the shape of the outputs.
        inverse_penalty: C in the penalty |w|^2 / (2 C).
        tolerance: the search ends when an iteration decreases the objective by at most this fraction of its value.
        max_iterations: maximum number of iterations.
    """

    def value_at(point: Vector) -> tuple[float, NDArray[np.float64]]:
        loss, error = loss_of(point.image + point.bias)
        return loss + float(np.vdot(point.texts, point.image)) / (2 * inverse_penalty), error

    def gradient_at(point: Vector, error: NDArray[np.float64]) -> Vector:
        image = gram(error) + point.image / inverse_penalty
        return Vector(error + point.texts / inverse_penalty, image, error.sum(axis=0))

    point = Vector(np.zeros(shape), np.zeros(shape), np.zeros(shape[1]))
    value, error = value_at(point)
    gradient = gradient_at(point, error)
    steps: deque[tuple[Vector, Vector, float]] = deque(maxlen=_HISTORY_LENGTH)
    for _ in range(max_iterations):
        direction = _direction(gradient, steps, inverse_penalty)
        slope = gradient.dot(direction)
        if slope >= 0:  # the gradient is 0 up to rounding
            break
        # The length of the first direction is arbitrary; later directions usually have a suitable length.
        length = 1.0 if steps else min(1.0, 1 / np.sqrt(-slope))
        for _ in range(_MAX_HALVINGS):
            new = point.plus(length, direction)
            new_value, error = value_at(new)
            if new_value <= value + _SUFFICIENT_DECREASE * length * slope:
                break
            length /= 2
        else:
            break  # the objective no longer decreases, apart from rounding
        new_gradient = gradient_at(new, error)
        step, change = direction.times(length), new_gradient.plus(-1, gradient)
        curvature = step.dot(change)
        if curvature > 0:
            steps.append((step, change, curvature))
        decrease = value - new_value
        point, value, gradient = new, new_value, new_gradient
        # After a shortened step, a small decrease does not mean that the minimum is near.
        if length == 1 and decrease <= tolerance * max(abs(value), 1):
            break
    return point.texts, point.bias


def _direction(gradient: Vector, steps: deque[tuple[Vector, Vector, float]], inverse_penalty: float) -> Vector:
    """Return the negative gradient times the approximate inverse Hessian, by the two-loop recursion of L-BFGS."""
    direction = gradient.times(-1)
    factors = []
    for step, change, curvature in reversed(steps):
        factors.append(step.dot(direction) / curvature)
        direction = direction.plus(-factors[-1], change)
    if steps:
        _, change, curvature = steps[-1]
        # The second derivative is at least 1 / C in the directions of the weights, and can be smaller only in the
        # direction of the bias. The factor is limited to C, because otherwise the component of the array a that K maps
        # to 0, which affects no weight, would grow.
        direction = direction.times(min(curvature / change.dot(change), inverse_penalty))
    for (step, change, curvature), factor in zip(steps, reversed(factors), strict=True):
        direction = direction.plus(factor - change.dot(direction) / curvature, step)
    return direction
