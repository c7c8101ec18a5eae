"""Counts items as they are iterated over, for progress reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

# Default number of items between two reports.
_EVERY = 500


def counted(items: Iterable[T], on_count: Callable[[int], None], already: int = 0, every: int = _EVERY) -> Iterator[T]:
    """Yield the items, and report their number at regular intervals.

    Args:
        items: any items.
        on_count: callback for the number of items so far, including ``already``; first called before the first item.
        already: number of earlier items, which is added to each reported number.
        every: number of items between two calls of ``on_count``.
    """
    for number, item in enumerate(items):
        if number % every == 0:
            on_count(already + number)
        yield item
