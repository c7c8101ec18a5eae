"""L-BFGS: minimises a smooth function of many parameters, given its value and gradient (Nocedal 1980).

In each iteration, the search moves in the direction -H g, where g is the gradient and H approximates the inverse of the
matrix of second derivatives. The matrix H is not stored: the product H g is computed from the last steps and the
changes of the gradient that they caused; see :func:`_direction`. If a step does not decrease the function enough, it is
shortened to the minimum of a parabola. This parabola has the same slope as the function at the start of the step, and
the same values at both ends of the step. If the function still decreases steeply at the end of the step, the step is
lengthened.

The algorithm needs only linear combinations and inner products of vectors, so it also works with the coordinates of
vectors in any basis. Let the matrix M contain the inner products of the vectors of the basis. The inner product of the
vectors with the coordinates a and c is then a^T M c. The vector with the coordinates a is therefore stored as an array
whose first row is a and whose last row is M a, the image of a. With the standard basis, M a is a, so one row is enough.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

# Number of previous steps that determine the next direction.
_HISTORY_LENGTH = 10
# A step is accepted if the function decreases by at least this fraction of the decrease that the gradient predicts.
_SUFFICIENT_DECREASE = 1e-4
# A step that is not accepted is shortened, to at least _MIN_FACTOR of its length. A step is lengthened by the factor
# _MAX_FACTOR if, at its end, the function still decreases more than _STEEP times as steeply as at its start.
_MIN_FACTOR, _MAX_FACTOR, _STEEP = 0.1, 4, 0.9
# Maximum number of step lengths to try. If no step is accepted, rounding errors hide any further decrease.
_MAX_ATTEMPTS = 20


State = TypeVar("State")


def minimise_in_basis(
    value_at: Callable[[NDArray[np.float64]], tuple[float, State]],
    gradient_at: Callable[[NDArray[np.float64], State], NDArray[np.float64]],
    start: NDArray[np.float64],
    tolerance: float,
    max_iterations: int,
    max_scale: float = np.inf,
) -> NDArray[np.float64]:
    """Return the vector at which a convex function is smallest.

    All vectors are arrays (1, P) or (2, P). The first row contains the coordinates a of the vector, and the last row
    their image M a; see the module's docstring.

    Args:
        value_at: function that returns the value at a point, and whatever ``gradient_at`` needs besides the point.
        gradient_at: function that returns the gradient at a point, as a vector.
        start: point at which the search starts.
        tolerance: the search ends when the next step is expected to decrease the function value f by at most
            ``tolerance`` times max(|f|, 1). Before the first step, H is unknown, so the search ends only if the
            gradient is 0.
        max_iterations: maximum number of iterations.
        max_scale: upper limit of the factor c. H is first approximated by c times the identity matrix, and then
            corrected with the last steps.
    """
    point = start
    value, state = value_at(point)
    gradient = gradient_at(point, state)
    steps: deque[_Step] = deque(maxlen=_HISTORY_LENGTH)
    for _ in range(max_iterations):
        direction = _direction(gradient, steps, max_scale)
        slope = _inner(gradient, direction)
        # If H is exact, a step of length 1 leads to the minimum, and decreases the function by -slope / 2.
        if -slope / 2 <= (tolerance * max(abs(value), 1) if steps else 0):
            break
        # The length of the first direction is arbitrary; later directions usually have a suitable length.
        length, shortened = 1.0 if steps else min(1.0, 1 / np.sqrt(-slope)), False
        shortest = None  # the first accepted step that seemed too short; used if no suitable length is found
        for _ in range(_MAX_ATTEMPTS):
            new = point + length * direction
            new_value, state = value_at(new)
            if new_value <= value + _SUFFICIENT_DECREASE * length * slope:
                new_gradient = gradient_at(new, state)
                if shortened or _inner(new_gradient, direction) >= _STEEP * slope:
                    break
                shortest = shortest or (length, new, new_value, new_gradient)
                length *= _MAX_FACTOR
            else:
                shortened = True
                length *= max(_MIN_FACTOR, slope * length / (2 * (value + slope * length - new_value)))
        else:
            if shortest is None:
                break
            length, new, new_value, new_gradient = shortest
        step, change = length * direction, new_gradient - gradient
        curvature, squared = _inner(step, change), _inner(change, change)
        if curvature > 0 and squared > 0:  # near the minimum, either can be 0 because of rounding errors
            steps.append(_Step(step, change, curvature, curvature / squared))
        point, value, gradient = new, new_value, new_gradient
    return point


class _Step(NamedTuple):
    """A step of the search.

    Args:
        vector: the step s, as a vector.
        change: change y of the gradient.
        curvature: s^T y, above 0.
        scale: s^T y / y^T y, the factor c for which c y is closest to s.
    """

    vector: NDArray[np.float64]
    change: NDArray[np.float64]
    curvature: float
    scale: float


def _direction(gradient: NDArray[np.float64], steps: deque[_Step], max_scale: float) -> NDArray[np.float64]:
    """Return -H g for the gradient g, by the two-loop recursion of L-BFGS."""
    direction = -gradient
    factors = []
    for step in reversed(steps):
        factors.append(_inner(step.vector, direction) / step.curvature)
        direction -= factors[-1] * step.change
    if steps:
        direction *= min(steps[-1].scale, max_scale)
    for step, factor in zip(steps, reversed(factors), strict=True):
        direction += (factor - _inner(step.change, direction) / step.curvature) * step.vector
    return direction


def _inner(vector: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the inner product of two vectors."""
    return float(vector[0] @ other[-1])


def minimise(
    value_and_gradient: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    start: NDArray[np.float64],
    tolerance: float = 1e-9,
    max_iterations: int = 1000,
) -> NDArray[np.float64]:
    """Return the parameters (P,) for which a convex function is smallest.

    Args:
        value_and_gradient: function that returns the value for parameters (P,), and the gradient (P,).
        start: (P,) parameters at which the search starts.
        tolerance: the search ends when the next step is expected to decrease the function value f by at most
            ``tolerance`` times max(|f|, 1).
        max_iterations: maximum number of iterations.
    """

    def value_at(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        return value_and_gradient(point[0])

    return minimise_in_basis(value_at, lambda _, gradient: gradient[None], start[None], tolerance, max_iterations)[0]


def minimise_above(
    value_and_gradient: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    start: NDArray[np.float64],
    lower: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the parameters (P,) for which a convex function is smallest, subject to a lower limit for each parameter.

    Parameters that would be below their limits are set to the limits, and the others are fitted again. If more than one
    parameter would be below its limit, the result can be far from the minimum.

    Args:
        value_and_gradient: as for :func:`minimise`.
        start: (P,) parameters at which the search starts.
        lower: (P,) lower limits; -inf for parameters without a limit.
    """
    fixed = np.zeros(len(start), bool)

    def of_others(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = value_and_gradient(parameters)
        return value, np.where(fixed, 0, gradient)

    while True:
        fitted = minimise(of_others, np.where(fixed, lower, start))
        below = fitted < lower
        if not below.any():
            return fitted
        fixed |= below
