"""Runs an iterator in a forked process, so that it works on the next items while the caller uses the current ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from nlptx.runtime.processes import forked, is_only_thread
from nlptx.runtime.workers import default_jobs

T = TypeVar("T")


def in_background(items: Callable[[], Iterable[T]], size: Callable[[T], int], batch_size: int) -> Iterator[T]:
    """Yield the items of ``items()``, which a forked process computes in batches, one batch ahead of the caller.

    If there is only one core, or if this program has other threads, so that forking is not safe, the items are computed
    in this process. An error that ``items`` raises is raised here, after all items before it.

    Args:
        items: function that returns the items. The items and all errors must be picklable.
        size: function that returns the size of an item.
        batch_size: total size of the items of a batch, except that the last item may exceed it.

    Raises:
        NlptxError: the process was killed.
    """
    batches = _Batches(items, size, batch_size)
    with forked([batches.take] if default_jobs() > 1 and is_only_thread() else []) as processes:
        if not processes:
            yield from items()
            return
        receive = processes[0].start(None)
        while True:
            batch, error = receive()
            if batch and error is None:
                receive = processes[0].start(None)
            yield from batch
            if error is not None:
                raise error
            if not batch:
                return


class _Batches(Generic[T]):
    """Takes items from an iterator in batches."""

    def __init__(self, items: Callable[[], Iterable[T]], size: Callable[[T], int], batch_size: int) -> None:
        self._items, self._size, self._batch_size = items, size, batch_size
        self._iterator: Iterator[T] | None = None

    def take(self, _: None) -> tuple[list[T], Exception | None]:
        """Return the next items, and the error that the iterator raised after them, if any. No items mean the end."""
        if self._iterator is None:
            self._iterator = iter(self._items())
        batch: list[T] = []
        total = 0
        try:
            for item in self._iterator:
                batch.append(item)
                total += self._size(item)
                if total >= self._batch_size:
                    break
        except Exception as error:
            return batch, error
        return batch, None
