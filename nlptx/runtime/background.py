"""Runs an iterator in a forked process, so that it works on the next items while the caller uses the current ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from nlptx.runtime.processes import forked, is_only_thread
from nlptx.runtime.resources import available_cores

T = TypeVar("T")


def in_background(items: Callable[[], Iterable[T]], size: Callable[[T], int], batch_size: int) -> Iterator[T]:
    """Yield the items of ``items()``, which a forked process computes in batches, one batch ahead of the caller.

    The items are computed in this process if there is only one core, if this program has other threads, so that forking
    is not safe, or if the system cannot fork. An error that ``items`` raises is raised here, after all items before it.

    Args:
        items: function that returns the items. The items and all errors must be picklable.
        size: function that returns the size of an item.
        batch_size: a batch ends as soon as the total size of its items reaches this number.

    Raises:
        NlptxError: the process was killed.
    """
    batches = _batches(items, size, batch_size)
    functions = [lambda _: next(batches, None)] if available_cores() > 1 and is_only_thread() else []
    with forked(functions) as processes:
        if not processes:
            yield from items()
            return
        receive = processes[0].start(None)
        while (answer := receive()) is not None:
            receive = processes[0].start(None)  # the process works on the next batch while the caller uses this one
            batch, error = answer
            yield from batch
            if error is not None:
                raise error


def _batches(
    items: Callable[[], Iterable[T]], size: Callable[[T], int], batch_size: int
) -> Iterator[tuple[list[T], Exception | None]]:
    """Yield the items in batches, the last one with the error that ``items`` raised, if any."""
    batch: list[T] = []
    total = 0
    try:
        for item in items():
            batch.append(item)
            total += size(item)
            if total >= batch_size:
                yield batch, None
                batch, total = [], 0
    except Exception as error:
        yield batch, error
    else:
        yield batch, None
