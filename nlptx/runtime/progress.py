"""Count items as they pass, for a progress report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

# Items from one report to the next, unless the caller wants every one.
_EVERY = 500


def counted(items: Iterable[T], on_count: Callable[[int], None], already: int = 0, every: int = _EVERY) -> Iterator[T]:
    """Yield the items; call ``on_count`` with their number so far now and then.

    Args:
        items: any items.
        on_count: called with 0 before the first item, and then with the number of items that have passed.
        already: number to start from, if other items came before.
        every: number of items from one call to the next.
    """
    for number, item in enumerate(items):
        if number % every == 0:
            on_count(already + number)
        yield item
