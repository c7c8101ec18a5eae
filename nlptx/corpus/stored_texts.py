"""A sequence of texts that are stored as bytes, in memory or in a temporary file, to use less memory than strings."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Self, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray

# Number of bytes that the buffer collects before they are appended to the stored texts.
_BUFFER_SIZE = 1 << 20


class StoredTexts(Sequence[str]):
    """A sequence of texts, stored one after another in UTF-8.

    Args:
        encoded: the bytes of each text.
    """

    def __init__(self, encoded: RaggedArray) -> None:
        self._encoded = encoded

    @classmethod
    def of(cls, texts: Iterable[str], budget: MemoryBudget) -> Self:
        """Store texts, in memory or on disk. The result can be used until ``budget`` is closed.

        Raises:
            OutputError: writing fails.
        """
        writer = TextWriter(budget)
        for text in texts:
            writer.append(text)
        return cls(writer.encoded())

    def __len__(self) -> int:
        return len(self._encoded)

    @overload
    def __getitem__(self, chosen: SupportsIndex) -> str: ...
    @overload
    def __getitem__(self, chosen: slice) -> StoredTexts: ...
    def __getitem__(self, chosen: SupportsIndex | slice) -> str | StoredTexts:
        return StoredTexts(self._encoded[chosen]) if isinstance(chosen, slice) else _decode(self._encoded[chosen])

    def take(self, chosen: Sequence[int] | NDArray[np.integer]) -> StoredTexts:
        """Return the texts with the given indices."""
        return StoredTexts(self._encoded.take(np.asarray(chosen, np.int64)))

    def __iter__(self) -> Iterator[str]:
        return map(_decode, self._encoded)


class TextWriter:
    """Stores texts one at a time.

    Args:
        budget: memory limit. The texts can be used until the budget is closed.
    """

    def __init__(self, budget: MemoryBudget) -> None:
        self._entries = budget.growing_array(np.uint8, budget.array_limit)
        self._lengths = array("i")
        self._buffer = bytearray()

    def append(self, text: str) -> None:
        """Store a text. Raises OutputError if there is not enough disk space."""
        data = text.encode("utf-8", "surrogatepass")
        self._buffer += data
        self._lengths.append(len(data))
        if len(self._buffer) >= _BUFFER_SIZE:
            self._flush()

    def encoded(self) -> RaggedArray:
        """Return the bytes of all texts; nothing can be appended afterwards."""
        self._flush()
        lengths = np.array(self._lengths, np.int32)
        entries = self._entries if self._entries.is_in_file else self._entries.array()
        return RaggedArray(entries, np.cumsum(lengths) - lengths, lengths)

    def _flush(self) -> None:
        self._entries.append(np.frombuffer(bytes(self._buffer), np.uint8))
        self._buffer.clear()


def _decode(data: NDArray[np.uint8]) -> str:
    return data.tobytes().decode("utf-8", "surrogatepass")
