"""What every layer is made of: parameters in one flat vector, gradients in another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.nn.layout import Layout


class Parameter:
    """A named array that is learned.

    Args:
        name: its name within the layer, as in the equations.
        value: its initial value; after :func:`flatten`, a view into the flat vector.
        decay: whether weight decay applies (matrices, not gains and biases).
    """

    __slots__ = ("decay", "name", "span", "value")

    def __init__(self, name: str, value: NDArray, decay: bool = False) -> None:
        self.name = name
        self.value = value
        self.decay = decay
        self.span = slice(0, 0)


class Layer:
    """Base class. Sub-classes list their own parameters and sub-layers; ``forward`` and ``backward`` mirror."""

    def own_parameters(self) -> Sequence[Parameter]:
        """Return the parameters of this layer itself."""
        return ()

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        """Return the named layers this one is composed of."""
        return ()

    def parameters(self, prefix: str = "") -> Iterator[tuple[str, Parameter]]:
        """Yield all parameters with dotted names, in a fixed order."""
        for parameter in self.own_parameters():
            yield prefix + parameter.name, parameter
        for name, layer in self.sublayers():
            yield from layer.parameters(f"{prefix}{name}.")

    def forward(self, x: NDArray, layout: Layout, rng: np.random.Generator | None) -> tuple[NDArray, Any]:
        """Return the output and whatever ``backward`` needs to know of this call."""
        raise NotImplementedError

    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        """Return the output alone, outside training. Layers made of layers keep nothing of what is in between."""
        return self.forward(x, layout, None)[0]

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        """Return dloss/dx given ``dy`` = dloss/dy; add dloss/dparameter into ``grads``."""
        raise NotImplementedError


class Gradients:
    """dloss/dparameter for all parameters of a network: named views of one flat vector.

    Args:
        flat: (P,) the vector; gradients are added to it.
    """

    def __init__(self, flat: NDArray) -> None:
        self.flat = flat

    def __getitem__(self, parameter: Parameter) -> NDArray:
        return self.flat[parameter.span].reshape(parameter.value.shape)

    def add(self, parameter: Parameter, gradient: NDArray) -> None:
        """Add to the gradient of ``parameter``."""
        view = self[parameter]
        view += gradient


def flatten(
    layer: Layer, dtype: DTypeLike = np.float32, empty: Callable[[int, DTypeLike], NDArray] = np.empty
) -> NDArray:
    """Move all parameters of ``layer`` into one new flat vector (P,), made by ``empty``, and make them views of it."""
    found = [parameter for _, parameter in layer.parameters()]
    flat = empty(sum(parameter.value.size for parameter in found), dtype)
    start = 0
    for parameter in found:
        parameter.span = slice(start, start + parameter.value.size)
        view = flat[parameter.span].reshape(parameter.value.shape)
        view[...] = parameter.value
        parameter.value = view
        start = parameter.span.stop
    return flat


def glorot(rng: np.random.Generator, rows: int, columns: int, fan_out: int | None = None) -> NDArray:
    """Return a (rows, columns) matrix uniform in +-sqrt(6 / (fan in + fan out)) (Glorot & Bengio 2010)."""
    bound = np.sqrt(6 / (rows + (fan_out or columns)))
    return rng.uniform(-bound, bound, (rows, columns))
