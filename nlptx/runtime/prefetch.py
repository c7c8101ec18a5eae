"""A stream of texts, read ahead by a thread, in groups of what has arrived."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field

# Characters read ahead, and of a group: of huge texts one at a time is enough.
_AHEAD = 4_000_000
_GROUP = 500_000


@dataclass
class _Shelf:
    """What the reader has laid down and nobody has taken yet; used under ``change`` alone."""

    items: list[str] = field(default_factory=list)
    characters: int = 0
    ended: bool = False
    failure: BaseException | None = None
    closed: bool = False
    change: threading.Condition = field(default_factory=threading.Condition)

    @property
    def waiting(self) -> bool:
        """Whether there is nothing to take, but may yet be."""
        return not self.items and not self.ended

    def full(self, most: int) -> bool:
        return len(self.items) >= most or self.characters >= _AHEAD

    def take(self, most: int) -> list[str]:
        """Take the first texts, at most ``most``, and of many characters fewer."""
        count = characters = 0
        while count < min(most, len(self.items)) and characters < _GROUP:
            characters += len(self.items[count])
            count += 1
        taken, self.items = self.items[:count], self.items[count:]
        self.characters -= characters
        return taken


@dataclass(frozen=True)
class Group:
    """Texts that arrived together, from ``shelf``."""

    items: list[str]
    shelf: _Shelf

    @property
    def paused(self) -> bool:
        """Whether the source, at this moment, has no more ready and has not ended."""
        with self.shelf.change:
            return self.shelf.waiting


def arriving(texts: Iterable[str], most: int) -> Generator[Group, None, None]:
    """Group texts as they arrive, at most ``most`` a group, without waiting for more than one.

    A thread reads ahead by a few groups and a few million characters, and waits when nobody takes them. An
    exception of the source is raised here, after what came before it.
    """
    shelf = _Shelf()
    threading.Thread(target=_read, args=(texts, shelf, 2 * most), name="nlptx-reader", daemon=True).start()
    try:
        while True:
            with shelf.change:
                shelf.change.wait_for(lambda: not shelf.waiting)
                if not shelf.items:
                    break
                items = shelf.take(most)
                shelf.change.notify()
            yield Group(items, shelf)
        if shelf.failure is not None:
            raise shelf.failure
    finally:
        with shelf.change:
            shelf.closed = True
            shelf.change.notify()


def _read(texts: Iterable[str], shelf: _Shelf, most: int) -> None:
    try:
        for text in texts:
            with shelf.change:
                shelf.change.wait_for(lambda: shelf.closed or not shelf.full(most))
                if shelf.closed:
                    return
                shelf.items.append(text)
                shelf.characters += len(text)
                if len(shelf.items) == 1:
                    shelf.change.notify()
    except BaseException as error:  # handed over, and raised in the reader's place
        shelf.failure = error
    finally:
        with shelf.change:
            shelf.ended = True
            shelf.change.notify()
