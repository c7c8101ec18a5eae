"""Many arrays of different lengths, stored one after another, in memory or in a temporary file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.io.memory_budget import GrowingArray, MemoryBudget

# Maximum number of arrays that are read from a file at once.
_ARRAYS_PER_READ = 1024
# Several arrays are usually read as one block, with the entries between them (the gaps). If the gaps have more than
# _SMALL entries, and make up more than the fraction _MAX_GAPS of the block, each array is read separately.
_MAX_GAPS, _SMALL = 0.95, 1 << 12


class RaggedArray(Sequence[NDArray[Any]]):
    """A sequence of one-dimensional arrays, stored without a Python object per array.

    Several threads and forked processes may read the arrays at the same time. Slicing and :meth:`take` do not copy the
    entries.

    Args:
        entries: the entries of all arrays, in memory or in a temporary file.
        starts: (arrays,) int64 index of the first entry of each array.
        lengths: (arrays,) int32 number of entries of each array.
    """

    def __init__(
        self, entries: NDArray[Any] | GrowingArray, starts: NDArray[np.int64], lengths: NDArray[np.int32]
    ) -> None:
        self.starts, self.lengths = starts, lengths
        self._entries = entries

    @classmethod
    def of(cls, arrays: Iterable[NDArray[Any]], dtype: DTypeLike) -> Self:
        """Store arrays in memory, as one array of this dtype."""
        arrays = list(arrays)
        lengths = np.array([len(array) for array in arrays], np.int32)
        entries = np.concatenate([np.zeros(0, dtype), *arrays], dtype=dtype)
        return cls(entries, np.cumsum(lengths) - lengths, lengths)

    @classmethod
    def collected(
        cls, parts: Iterable[tuple[NDArray[Any], NDArray[np.integer]]], dtype: DTypeLike, budget: MemoryBudget
    ) -> Self:
        """Store groups of arrays in memory or, if the arrays exceed the memory limit, in a temporary file.

        Args:
            parts: for each group, the entries of its arrays, one array after another, and the length of each array.
            dtype: dtype of the entries.
            budget: memory limit. The arrays are valid until the budget is closed.

        Raises:
            OutputError: there is not enough disk space.
        """
        entries = budget.growing_array(dtype, budget.array_limit)
        lengths = [np.zeros(0, np.int32)]
        for part, part_lengths in parts:
            entries.append(part)
            lengths.append(part_lengths.astype(np.int32))
        every = np.concatenate(lengths)
        return cls(entries if entries.is_in_file else entries.array(), np.cumsum(every) - every, every)

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, chosen: SupportsIndex) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, chosen: slice) -> RaggedArray: ...
    def __getitem__(self, chosen: SupportsIndex | slice) -> NDArray[Any] | RaggedArray:
        if isinstance(chosen, slice):
            return RaggedArray(self._entries, self.starts[chosen], self.lengths[chosen])
        start = int(self.starts[chosen])
        return self._read(start, start + int(self.lengths[chosen]))

    def take(self, chosen: NDArray[np.integer] | NDArray[np.bool_]) -> RaggedArray:
        """Return the arrays selected by their indices, or by one boolean per array."""
        return RaggedArray(self._entries, self.starts[chosen], self.lengths[chosen])

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for first in range(0, len(self), _ARRAYS_PER_READ):
            starts = self.starts[first : first + _ARRAYS_PER_READ]
            ends = starts + self.lengths[first : first + _ARRAYS_PER_READ]
            low, high, used = int(starts.min()), int(ends.max()), int((ends - starts).sum())
            bounds = zip(starts.tolist(), ends.tolist(), strict=True)
            if high - low - used > max(_SMALL, _MAX_GAPS * (high - low)):
                yield from (self._read(start, end) for start, end in bounds)
            else:
                block = self._read(low, high)
                yield from (block[start - low : end - low] for start, end in bounds)

    def last_entries(self, count: int) -> NDArray[Any]:
        """Return the last ``count`` entries of each array, (arrays, count); no array may have fewer entries."""
        result = np.empty((len(self), count), self._entries.dtype)
        order = np.argsort(self.starts, kind="stable")  # by position, so that a file is read from start to end
        for first in range(0, len(self), _ARRAYS_PER_READ):
            rows = order[first : first + _ARRAYS_PER_READ]
            ends = self.starts[rows] + self.lengths[rows]
            low = int(self.starts[rows[0]])
            block = self._read(low, int(ends.max()))
            result[rows] = block[ends[:, None] - low + np.arange(-count, 0)]
        return result

    def with_parts(
        self, rows: NDArray[np.integer], offsets: NDArray[np.integer], lengths: NDArray[np.integer]
    ) -> RaggedArray:
        """Return all arrays, followed by parts of some of them.

        Args:
            rows: (parts,) index of the array from which each part is taken.
            offsets: (parts,) index of the first entry of each part within its array.
            lengths: (parts,) number of entries in each part.
        """
        starts = np.concatenate([self.starts, self.starts[rows] + offsets])
        return RaggedArray(self._entries, starts, np.concatenate([self.lengths, lengths]).astype(np.int32))

    def _read(self, start: int, stop: int) -> NDArray[Any]:
        if isinstance(self._entries, GrowingArray):
            return self._entries.read(start, stop)
        return self._entries[start:stop]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arrays, whether they are in memory or in a file."""
        return RaggedArray.of, (list(self), self._entries.dtype)
