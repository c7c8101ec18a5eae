"""Collects the state of a training run for a checkpoint, and restores it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nlptx.errors import CorruptError


class Stateful(Protocol):
    """An object with attributes that change during training.

    Each of these attributes is a number, an array or a list of arrays; ``STATE`` contains their names.
    """

    @property
    def STATE(self) -> tuple[str, ...]: ...  # noqa: N802  # a class constant


@dataclass(frozen=True)
class State:
    """State of a training run.

    Args:
        phase: ``pretrain``, ``distill`` or ``train``.
        epoch: current epoch, from 1.
        step: number of steps taken in this phase.
        arrays: the numbers and arrays returned by :func:`collect`. The arrays are not copies, so they change as
            training continues.
        records: records of the training so far, as JSON values.
    """

    phase: str
    epoch: int
    step: int
    arrays: dict[str, NDArray]
    records: dict[str, Any]


def collect(parts: Mapping[str, Stateful]) -> dict[str, NDArray]:
    """Return the attributes of ``parts`` that change during training, by dotted name. Arrays are not copied."""
    arrays: dict[str, NDArray] = {}
    for name, part, attribute in _attributes(parts):
        value = getattr(part, attribute)
        if isinstance(value, list):
            arrays |= {f"{name}.{index}": array for index, array in enumerate(value)}
        else:
            arrays[name] = np.asarray(value)
    return arrays


def restore_state(parts: Mapping[str, Stateful], saved: Mapping[str, NDArray]) -> None:
    """Restore the attributes returned by :func:`collect`. Arrays are changed in place.

    Raises:
        CorruptError: the names, dtypes or shapes do not match.
    """
    current = collect(parts)
    if set(current) != set(saved):
        raise CorruptError(f"it contains {', '.join(sorted(saved))}; expected {', '.join(sorted(current))}")
    for name, array in current.items():
        stored = saved[name]
        if (stored.dtype, stored.shape) != (array.dtype, array.shape):
            raise CorruptError(
                f"array {name!r} is {stored.dtype}{list(stored.shape)}; expected {array.dtype}{list(array.shape)}"
            )
    for name, array in current.items():
        np.copyto(array, saved[name])  # restores arrays; the next loop restores numbers
    for name, part, attribute in _attributes(parts):
        value = getattr(part, attribute)
        if isinstance(value, int | float):
            setattr(part, attribute, type(value)(saved[name]))


def _attributes(parts: Mapping[str, Stateful]) -> Iterator[tuple[str, Stateful, str]]:
    for name, part in parts.items():
        for attribute in part.STATE:
            yield f"{name}.{attribute}", part, attribute
