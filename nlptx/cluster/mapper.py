"""The interface that a cluster and the workers of one machine have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Mapper(Protocol):
    """Common interface of a cluster and of the workers of one machine."""

    def map(self, work: Callable[[T], R], items: Iterable[T], *, isolated: bool = ...) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in order."""
