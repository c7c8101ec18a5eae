"""Prefetching: a thread reads texts into a bounded queue, from which the caller takes them in groups."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from nlptx.runtime.workers import PAUSE, Pause

K = TypeVar("K")

# Number of characters, in all texts of the queue or of a group together, from which on no more texts are added.
_QUEUE_CHARACTERS = 4_000_000
GROUP_CHARACTERS = 500_000


@dataclass(frozen=True)
class _End:
    """Marker after the last pair in the queue, with the error that the source raised, if any."""

    error: BaseException | None = None


class _TextQueue:
    """A queue of pairs (anything, text), bounded by the number of pairs and by the number of characters.

    One thread puts pairs in, and another one takes them out in groups. ``queue.Queue`` is not used, because it hands
    over one pair at a time, which takes three times as long for short texts.

    Args:
        size: maximum number of pairs in the queue.
    """

    def __init__(self, size: int) -> None:
        self.closed = False
        self._size, self._characters = size, 0
        self._pairs: deque[tuple[Any, str]] = deque()
        self._changed = threading.Condition()

    def is_empty(self) -> bool:
        return not self._pairs

    def put(self, pair: tuple[Any, str]) -> None:
        """Append a pair; wait while the queue is full, unless it is closed."""
        with self._changed:
            while (len(self._pairs) >= self._size or self._characters >= _QUEUE_CHARACTERS) and not self.closed:
                self._changed.wait()
            self._pairs.append(pair)
            self._characters += len(pair[1])
            self._changed.notify()

    def take(self, size: int) -> tuple[list[Any], list[str], _End | None]:
        """Wait for a pair, then take up to ``size`` available pairs.

        Return the first elements of the pairs, their texts, and the end marker, or None if the end was not reached.
        """
        kept: list[Any] = []
        texts: list[str] = []
        characters = 0
        with self._changed:
            while not self._pairs:
                self._changed.wait()
            while self._pairs and len(texts) < size and characters < GROUP_CHARACTERS:
                item, text = self._pairs.popleft()
                if isinstance(item, _End):
                    return kept, texts, item
                kept.append(item)
                texts.append(text)
                characters += len(text)
            self._characters -= characters
            self._changed.notify()
        return kept, texts, None

    def close(self) -> None:
        """Close the queue. A thread that waits in :meth:`put` then continues."""
        with self._changed:
            self.closed = True
            self._changed.notify()


def prefetch(pairs: Iterable[tuple[K, str]], size: int) -> Generator[tuple[list[K], list[str]] | Pause]:
    """Yield pairs (anything, text) in groups, as they arrive: ``([anything, ...], [text, ...])``.

    A group has at most ``size`` pairs, ends when its texts have GROUP_CHARACTERS characters or more, and is yielded
    without waiting for more pairs. If no pair is available, the generator yields a :class:`Pause` before it waits for
    the next pair. If reading ``pairs`` raises an error, the generator yields all earlier pairs before it raises the
    error.
    """
    waiting = _TextQueue(2 * size)
    threading.Thread(target=_read, args=(pairs, waiting), name="nlptx-reader", daemon=True).start()
    end = None
    try:
        while end is None:
            if waiting.is_empty():
                yield PAUSE
            kept, texts, end = waiting.take(size)
            if texts:
                yield kept, texts
        if end.error is not None:
            yield PAUSE
            raise end.error
    finally:
        waiting.close()


def _read(pairs: Iterable[tuple[Any, str]], waiting: _TextQueue) -> None:
    end = _End()
    try:
        for pair in pairs:
            waiting.put(pair)
            if waiting.closed:
                return
    except BaseException as error:  # prefetch() raises the error in the thread that takes the pairs
        end = _End(error)
    waiting.put((end, ""))
