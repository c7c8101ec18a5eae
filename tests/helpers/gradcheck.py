"""Compares hand-derived gradients with central differences, in float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.nn import Gradients, Layer, Layout, flatten

# Central differences have an error of STEP^2 f'''/6 from the third derivative, and of about 1e-16 |loss| / STEP from
# rounding. For losses around 1, both errors are near 1e-10, so the tolerances leave little room for other errors.
STEP = 1e-5
RELATIVE = 1e-6
ABSOLUTE = 2e-9
DIRECTIONS = 3
SMALL = 150

Arrays = Mapping[str, tuple[NDArray, NDArray]]


class GradientError(AssertionError):
    """Some gradients are wrong; for each wrong array, the message gives the position and both derivatives."""


def check_gradients(loss: Callable[[], float], arrays: Arrays, small: int = SMALL) -> None:
    """Raise GradientError unless the given gradients of ``loss`` are correct.

    Args:
        loss: function that computes the loss from the current contents of the arrays.
        arrays: name -> (value, gradient). The values are changed in place, and then restored.
        small: maximum size of arrays that are also checked entry by entry.
    """
    faults = []
    for name, (value, gradient) in arrays.items():
        if value.dtype != np.float64 or value.shape != gradient.shape:
            raise GradientError(f"{name}: value {value.dtype} {value.shape}, gradient {gradient.shape}")
        for where, direction in _probes(value.shape, small):
            derived = float((gradient * direction).sum())
            measured = _slope(loss, value, direction)
            allowed = ABSOLUTE + RELATIVE * max(abs(derived), abs(measured))
            if not abs(derived - measured) <= allowed:  # so that a NaN fails too
                faults.append(f"{name} {where}: backward gives {derived:.10g}, differences give {measured:.10g}")
                break
    if faults:
        raise GradientError("\n".join(faults))


def layer_gradients(
    layer: Layer,
    x: NDArray,
    layout: Layout,
    generator: Callable[[], np.random.Generator | None] = lambda: None,
    objective: Callable[[NDArray], tuple[float, NDArray]] | None = None,
) -> tuple[Callable[[], float], dict[str, tuple[NDArray, NDArray]]]:
    """Return arguments of :func:`check_gradients` that check the input and all parameters of a layer.

    Args:
        layer: layer whose parameters share one array; see :func:`randomise`.
        generator: function that returns a new generator of dropout masks, with the same seed at every call, so that all
            evaluations use the same masks.
        objective: function from the output of the layer to a loss and its gradient; by default a sum with random
            weights.
    """

    def forward() -> tuple[NDArray, Any]:
        return layer.forward(x, layout, generator())

    y, cache = forward()
    mixture = np.random.default_rng(11).normal(size=y.shape)
    objective = objective or (lambda out: (float((out * mixture).sum()), mixture))
    parameters = dict(layer.parameters())
    grads = Gradients(np.zeros(sum(p.value.size for p in parameters.values())))
    dx = layer.backward(objective(y)[1], cache, grads)
    arrays = {"x": (x, dx)} | {name: (p.value, grads[p]) for name, p in parameters.items()}
    return lambda: objective(forward()[0])[0], arrays


def randomise(layer: Layer, seed: int = 3, dtype: DTypeLike = np.float64) -> NDArray:
    """Move the parameters of a layer into one array, fill the array with noise, and return it.

    The usual initial values, zeros and ones, would hide wrong gradients.
    """
    flat = flatten(layer, dtype)
    flat[...] = np.random.default_rng(seed).normal(0, 0.5, flat.shape)
    return flat


def _probes(shape: tuple[int, ...], small: int) -> Iterator[tuple[str, NDArray]]:
    """Yield random directions, which reveal any wrong entry, and then, for a small array, its coordinate axes."""
    rng = np.random.default_rng(7)
    for number in range(DIRECTIONS):
        direction = rng.normal(size=shape)
        yield f"along random direction {number}", direction / np.linalg.norm(direction)
    if np.prod(shape) <= small:
        for index in np.ndindex(shape):
            direction = np.zeros(shape)
            direction[index] = 1
            yield f"at {index}", direction


def _slope(loss: Callable[[], float], value: NDArray, direction: NDArray) -> float:
    start = value.copy()
    try:
        value[...] = start + STEP * direction
        above = loss()
        value[...] = start - STEP * direction
        below = loss()
    finally:
        value[...] = start
    return (above - below) / (2 * STEP)
