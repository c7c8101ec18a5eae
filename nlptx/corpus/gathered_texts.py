"""Collects texts one at a time, as a list or, if there is a memory limit, as stored texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlptx.corpus.stored_texts import TextWriter
    from nlptx.io.memory_budget import MemoryBudget


class GatheredTexts:
    """Texts that are added one at a time.

    Args:
        budget: memory limit; the texts can then be used until the budget is closed. None to keep them in a list.
    """

    def __init__(self, budget: MemoryBudget | None) -> None:
        self._texts: list[str] = []
        self._writer: TextWriter | None = None
        if budget is not None:
            from nlptx.corpus.stored_texts import TextWriter  # imports NumPy

            self._writer = TextWriter(budget)

    def append(self, text: str) -> None:
        """Add a text. Raises OutputError if there is not enough disk space."""
        (self._texts if self._writer is None else self._writer).append(text)

    def texts(self) -> Sequence[str]:
        """Return all texts; none can be added afterwards."""
        if self._writer is None:
            return self._texts
        from nlptx.corpus.stored_texts import StoredTexts

        return StoredTexts(self._writer.encoded())


def gather(texts: Iterable[str], budget: MemoryBudget | None) -> Sequence[str]:
    """Return the texts as a list or, if there is a memory limit, as stored texts."""
    result = GatheredTexts(budget)
    for text in texts:
        result.append(text)
    return result.texts()
