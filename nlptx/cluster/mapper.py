"""The interface shared by a cluster and by the workers of one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Mapper(Protocol):
    """Something that runs tasks: a cluster, or the workers of one machine."""

    def map(self, work: Callable[[T], R], items: Iterable[T], *, isolated: bool = ...) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in order."""
