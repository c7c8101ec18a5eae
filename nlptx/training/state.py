"""What changes while training: taken out of the objects that hold it, and put back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import CorruptError


class Stateful(Protocol):
    """An object that changes while training; ``STATE`` names what does: numbers, arrays and lists of arrays."""

    @property
    def STATE(self) -> tuple[str, ...]: ...  # noqa: N802  # a constant of its class


@dataclass(frozen=True)
class State:
    """Where a training stands.

    Args:
        phase: ``pretrain``, ``distill`` or ``train``.
        epoch: under way, from 1.
        step: taken in this phase.
        arrays: the numbers and arrays of its parts, see :func:`collect`; they go on changing.
        records: what it has recorded so far, as JSON values.
    """

    phase: str
    epoch: int
    step: int
    arrays: dict[str, NDArray]
    records: dict[str, Any]


def collect(parts: Mapping[str, Stateful]) -> dict[str, NDArray]:
    """Return everything that changes in ``parts``, by dotted names; arrays are not copied."""
    found: dict[str, NDArray] = {}
    for name, part, attribute in _attributes(parts):
        value = getattr(part, attribute)
        if isinstance(value, list):
            found |= {f"{name}.{place}": array for place, array in enumerate(value)}
        else:
            found[name] = np.asarray(value)
    return found


def put_back(parts: Mapping[str, Stateful], saved: Mapping[str, NDArray]) -> None:
    """Undo :func:`collect`; arrays are written in place. Raises CorruptError unless names, types and shapes agree."""
    wanted = collect(parts)
    if set(wanted) != set(saved):
        raise CorruptError(f"it holds {', '.join(sorted(saved))}; expected {', '.join(sorted(wanted))}")
    for name, array in wanted.items():
        have = saved[name]
        if (have.dtype, have.shape) != (array.dtype, array.shape):
            raise CorruptError(
                f"array {name!r} is {have.dtype}{list(have.shape)}; expected {array.dtype}{list(array.shape)}"
            )
    for name, array in wanted.items():
        np.copyto(array, saved[name])  # a number has only a copy here
    for name, part, attribute in _attributes(parts):
        value = getattr(part, attribute)
        if isinstance(value, int | float):
            setattr(part, attribute, type(value)(saved[name]))


def _attributes(parts: Mapping[str, Stateful]) -> Iterator[tuple[str, Stateful, str]]:
    for name, part in parts.items():
        for attribute in part.STATE:
            yield f"{name}.{attribute}", part, attribute
