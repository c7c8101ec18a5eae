"""Prefetching: a thread reads texts into a bounded queue, from which the caller takes them in groups."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from nlptx.runtime.workers import PAUSE, Pause

K = TypeVar("K")

# Maximum number of characters in the queue and in a group. A single text may be longer.
_QUEUE_CHARACTERS = 4_000_000
_GROUP_CHARACTERS = 500_000


@dataclass(frozen=True)
class _End:
    """Marker after the last pair in the queue, with the error that the source raised, if any."""

    error: BaseException | None = None


class _TextQueue(queue.Queue[tuple[Any, str]]):
    """A queue of pairs (anything, text), bounded by the number of pairs and by the number of characters."""

    characters = 0

    def _qsize(self) -> int:
        return max(super()._qsize(), self.characters * self.maxsize // _QUEUE_CHARACTERS)

    def _put(self, item: tuple[Any, str]) -> None:
        self.characters += len(item[1])
        super()._put(item)

    def _get(self) -> tuple[Any, str]:
        item = super()._get()
        self.characters -= len(item[1])
        return item


def prefetch(pairs: Iterable[tuple[K, str]], size: int) -> Generator[tuple[list[K], list[str]] | Pause]:
    """Yield pairs (anything, text) in groups, as they arrive: ``([anything, ...], [text, ...])``.

    A group has at most ``size`` pairs, and is yielded without waiting for more pairs. If no pair is available, a
    :class:`Pause` is yielded before waiting for the source. If the source raises an error, all earlier pairs are
    yielded before the error is raised here.
    """
    waiting = _TextQueue(2 * size)
    closed = threading.Event()
    threading.Thread(target=_read, args=(pairs, waiting, closed), name="nlptx-reader", daemon=True).start()
    end = None
    try:
        while end is None:
            if waiting.empty():
                yield PAUSE
            kept, texts, end = _take_group(waiting, size)
            if texts:
                yield kept, texts
        if end.error is not None:
            yield PAUSE
            raise end.error
    finally:
        closed.set()
        while not waiting.empty():  # prevents the thread from blocking on a full queue
            waiting.get()


def _take_group(waiting: _TextQueue, size: int) -> tuple[list[Any], list[str], _End | None]:
    """Wait for one pair, then take all available pairs up to a limit. The third value is the end marker, or None."""
    kept: list[Any] = []
    texts: list[str] = []
    characters = 0
    while len(texts) < size and characters < _GROUP_CHARACTERS and not (texts and waiting.empty()):
        item, text = waiting.get()
        if isinstance(item, _End):
            return kept, texts, item
        kept.append(item)
        texts.append(text)
        characters += len(text)
    return kept, texts, None


def _read(pairs: Iterable[tuple[Any, str]], waiting: _TextQueue, closed: threading.Event) -> None:
    end = _End()
    try:
        for pair in pairs:
            waiting.put(pair)
            if closed.is_set():
                return
    except BaseException as error:  # prefetch() raises the error in the thread that takes the pairs
        end = _End(error)
    waiting.put((end, ""))
