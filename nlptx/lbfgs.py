"""L-BFGS: minimises a smooth function of many parameters, given its value and gradient (Nocedal 1980).

In each iteration, the search moves in the direction -H g, where g is the gradient and H approximates the inverse of the
matrix of second derivatives. The matrix H is not stored: the product H g is computed from the last steps and the
changes of the gradient that they caused; see :func:`_direction`. If a step does not decrease the function enough, it is
shortened to the minimum of a parabola. This parabola has the same slope as the function at the start of the step, and
the same values at both ends of the step. If the function still decreases steeply at the end of the step, the step is
lengthened.

The algorithm needs only inner products and linear combinations of vectors. So the vectors can be arrays
(:func:`minimise`), or objects that store a long vector in a shorter form (:mod:`nlptx.ngrams.span_lbfgs`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

# Number of previous steps that determine the next direction.
_HISTORY_LENGTH = 10
# A step is accepted if the function decreases by at least this fraction of the decrease that the gradient predicts.
_SUFFICIENT_DECREASE = 1e-4
# A step that is not accepted is shortened, to at least _MIN_FACTOR of its length. A step becomes _MAX_FACTOR times as
# long if the slope at its end is still more than _STEEP times the slope at its start.
_MIN_FACTOR, _MAX_FACTOR, _STEEP = 0.1, 4, 0.9
# Maximum number of step lengths to try. If none is accepted, rounding errors hide any further decrease.
_MAX_ATTEMPTS = 20


class Vector(Protocol):
    """A vector of parameters, or a gradient with respect to them."""

    def dot(self, other: Self) -> float:
        """Return the inner product of two vectors."""

    def plus(self, factor: float, other: Self) -> Self:
        """Return this vector plus ``factor`` times another vector."""

    def times(self, factor: float) -> Self:
        """Return ``factor`` times this vector."""


V = TypeVar("V", bound=Vector)
State = TypeVar("State")


def minimise_over_vectors(
    value_at: Callable[[V], tuple[float, State]],
    gradient_at: Callable[[V, State], V],
    start: V,
    tolerance: float,
    max_iterations: int,
    max_scale: float = np.inf,
) -> V:
    """Return the vector at which a convex function is smallest.

    Args:
        value_at: function that returns the value at a point, and whatever ``gradient_at`` needs besides the point.
        gradient_at: function that returns the gradient at a point.
        start: point at which the search starts.
        tolerance: the search ends when the next step is expected to decrease the function by at most this fraction of
            its value.
        max_iterations: maximum number of iterations.
        max_scale: upper limit of the factor c, where c I (a multiple of the identity matrix) is the approximation of H
            before the last steps are taken into account.
    """
    point = start
    value, state = value_at(point)
    gradient = gradient_at(point, state)
    steps: deque[_Step[V]] = deque(maxlen=_HISTORY_LENGTH)
    for _ in range(max_iterations):
        direction = _direction(gradient, steps, max_scale)
        slope = gradient.dot(direction)
        # If H is exact, a step of length 1 leads to the minimum, and decreases the function by -slope / 2.
        if -slope / 2 <= (tolerance * max(abs(value), 1) if steps else 0):
            break
        # The length of the first direction is arbitrary; later directions usually have a suitable length.
        length, shortened = 1.0 if steps else min(1.0, 1 / np.sqrt(-slope)), False
        for _ in range(_MAX_ATTEMPTS):
            new = point.plus(length, direction)
            new_value, state = value_at(new)
            if new_value <= value + _SUFFICIENT_DECREASE * length * slope:
                new_gradient = gradient_at(new, state)
                if shortened or new_gradient.dot(direction) >= _STEEP * slope:
                    break
                length *= _MAX_FACTOR
            else:
                shortened = True
                length *= max(_MIN_FACTOR, slope * length / (2 * (value + slope * length - new_value)))
        else:
            break
        step, change = direction.times(length), new_gradient.plus(-1, gradient)
        curvature, squared = step.dot(change), change.dot(change)
        if curvature > 0 and squared > 0:  # near the minimum, either can be 0 because of rounding errors
            steps.append(_Step(step, change, curvature, curvature / squared))
        point, value, gradient = new, new_value, new_gradient
    return point


@dataclass(frozen=True)
class _Step(Generic[V]):
    """A step of the search.

    Args:
        vector: the step s, as a vector.
        change: change y of the gradient.
        curvature: s^T y, above 0.
        scale: s^T y / y^T y, the factor c for which c y is closest to s.
    """

    vector: V
    change: V
    curvature: float
    scale: float


def _direction(gradient: V, steps: deque[_Step[V]], max_scale: float) -> V:
    """Return -H g for the gradient g, by the two-loop recursion of L-BFGS."""
    direction = gradient.times(-1)
    factors = []
    for step in reversed(steps):
        factors.append(step.vector.dot(direction) / step.curvature)
        direction = direction.plus(-factors[-1], step.change)
    if steps:
        direction = direction.times(min(steps[-1].scale, max_scale))
    for step, factor in zip(steps, reversed(factors), strict=True):
        direction = direction.plus(factor - step.change.dot(direction) / step.curvature, step.vector)
    return direction


class _Array(NamedTuple):
    """A vector that is stored as an array."""

    numbers: NDArray[np.float64]

    def dot(self, other: _Array) -> float:
        return float(self.numbers @ other.numbers)

    def plus(self, factor: float, other: _Array) -> _Array:
        return _Array(self.numbers + factor * other.numbers)

    def times(self, factor: float) -> _Array:
        return _Array(factor * self.numbers)


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
        tolerance: the search ends when the next step is expected to decrease the function by at most this fraction of
            its value.
        max_iterations: maximum number of iterations.
    """

    def value_at(point: _Array) -> tuple[float, NDArray[np.float64]]:
        return value_and_gradient(point.numbers)

    return minimise_over_vectors(
        value_at, lambda _, gradient: _Array(gradient), _Array(start), tolerance, max_iterations
    ).numbers


def minimise_above(
    value_and_gradient: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    start: NDArray[np.float64],
    lower: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the parameters (P,) for which a convex function is smallest, subject to a lower limit for each parameter.

    Parameters that would be below their limits are set to the limits, and the others are fitted again. If more than one
    parameter would be below its limit, the result is not always the exact minimum.

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
