"""The base classes of the layers. All parameters are stored in one flat vector, and all gradients in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.nn.layout import Layout


class Parameter:
    """A named array of learned values.

    Args:
        name: name of the parameter within its layer, as in the equations.
        value: initial value; after :func:`flatten`, a view into the flat vector.
        decay: whether weight decay applies to the parameter: True for weight matrices; False for gains, biases,
            position vectors and the query of attention pooling.

    Attributes:
        span: part of the flat vector that holds the value; set by :func:`flatten`.
    """

    __slots__ = ("decay", "name", "span", "value")

    def __init__(self, name: str, value: NDArray, decay: bool = False) -> None:
        self.name = name
        self.value = value
        self.decay = decay
        self.span = slice(0, 0)


class Layer:
    """Base class of all layers. A layer computes y = f(x), and the gradients with respect to x and to its parameters.

    A subclass lists its parameters and the layers it is composed of, and implements ``forward`` and ``backward``, which
    reverses the steps of ``forward``. The output has the dtype of the input.
    """

    def direct_parameters(self) -> Sequence[Parameter]:
        """Return the parameters of this layer itself, without the parameters of its sublayers."""
        return ()

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        """Return the layers that this layer is composed of, as pairs (name, layer)."""
        return ()

    def parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Yield all parameters with their dotted names, in a fixed order."""
        for parameter in self.direct_parameters():
            yield prefix + parameter.name, parameter
        for name, layer in self.sublayers():
            yield from layer.parameters(f"{prefix}{name}.")

    def forward(self, x: NDArray, layout: Layout, rng: np.random.Generator | None) -> tuple[NDArray, Any]:
        """Return y, and a cache with everything that ``backward`` needs from this call.

        Args:
            x: (N, D) float32 or float64, the token vectors of a batch, one text after another.
            layout: layout of the batch, which records which rows of ``x`` belong to which text.
            rng: source of randomness for dropout; None outside training.
        """
        raise NotImplementedError

    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        """Return only y, without dropout. A layer overrides this method if it needs less memory without a cache."""
        return self.forward(x, layout, None)[0]

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        """Return the derivative of the loss with respect to x, and add the gradients of the parameters to ``grads``.

        Args:
            dy: the derivative of the loss with respect to y, with the shape of y.
            cache: the cache that ``forward`` returned along with y.
            grads: the gradients of all parameters of the network.
        """
        raise NotImplementedError


class Gradients:
    """The gradients of all parameters of a network, as views into one flat vector.

    Args:
        flat: (P,) the flat vector; :meth:`add` changes it in place.
    """

    def __init__(self, flat: NDArray) -> None:
        self.flat = flat

    def __getitem__(self, parameter: Parameter) -> NDArray:
        return self.flat[parameter.span].reshape(parameter.value.shape)

    def add(self, parameter: Parameter, gradient: NDArray) -> None:
        """Add ``gradient``, with the shape of the parameter, to the gradient accumulated so far."""
        view = self[parameter]
        view += gradient


def flatten(
    layer: Layer, dtype: DTypeLike = np.float32, empty: Callable[[int, DTypeLike], NDArray] = np.empty
) -> NDArray:
    """Move all parameters of a layer into one flat vector, and make the values of the parameters views of this vector.

    Args:
        layer: layer whose parameters are moved, including those of its sublayers.
        dtype: dtype of the vector.
        empty: function that allocates the vector, given its length and its dtype.

    Returns:
        The vector, (P,).
    """
    parameters = [parameter for _, parameter in layer.parameters()]
    flat = empty(sum(parameter.value.size for parameter in parameters), dtype)
    start = 0
    for parameter in parameters:
        parameter.span = slice(start, start + parameter.value.size)
        view = flat[parameter.span].reshape(parameter.value.shape)
        view[...] = parameter.value
        parameter.value = view
        start = parameter.span.stop
    return flat


def glorot(rng: np.random.Generator, rows: int, columns: int, fan_out: int | None = None) -> NDArray:
    """Return a random matrix with entries uniform between -b and b, where b = sqrt(6 / (fan-in + fan-out)).

    The fan-in is the number of inputs that a row vector multiplied by the matrix has, and the fan-out the number of
    outputs.

    Args:
        rng: source of randomness.
        rows: number of rows, which equals the fan-in.
        columns: number of columns.
        fan_out: fan-out, if it differs from ``columns``.

    Returns:
        (rows, columns) float64.

    Source: Glorot & Bengio (2010), "Understanding the difficulty of training deep feedforward neural networks".
    """
    bound = np.sqrt(6 / (rows + (fan_out or columns)))
    return rng.uniform(-bound, bound, (rows, columns))
