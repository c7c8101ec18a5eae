"""Shards: subsets of a corpus that can be processed independently, on any machine and in any order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from nlptx.errors import SettingsError

# Number of consecutive documents that are assigned to a shard at a time.
_STRETCH = 1000
_MAX_SHARDS = 1_000_000


@dataclass(frozen=True)
class Shard:
    """One of several subsets, of about equal size, into which a corpus is divided.

    Documents are assigned to the shards in turn, a thousand at a time. The shard of a document depends only on its
    number in the corpus, not on how the corpus is divided into files.

    Args:
        number: number of this shard, from 1 to ``of``.
        of: number of shards.

    Raises:
        SettingsError: ``number`` or ``of`` is out of range.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of <= _MAX_SHARDS:
            raise SettingsError(
                f"there is no shard {self.number} of {self.of}; expected 1/N to N/N, where N is at most {_MAX_SHARDS:,}"
            )

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Convert a string such as ``3/8`` to a shard. Raises SettingsError.

        >>> Shard.parse("3/8")
        Shard(number=3, of=8)
        """
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, re.ASCII)
        if match is None:
            raise SettingsError(f"{text!r} is not a shard; expected I/N, such as 3/8 for the third of eight")
        return cls(int(match[1]), int(match[2]))

    def blocks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the lines of this shard in blocks, given the blocks of all lines (see :mod:`nlptx.text.blocks`)."""
        done = 0  # number of documents in earlier blocks
        for block in blocks:
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1
            first, last = done // _STRETCH, (done + len(ends) - 1) // _STRETCH
            done, before = done + len(ends), done
            for stretch in range(first, last + 1):
                if stretch % self.of == self.number - 1:
                    start, stop = max(stretch * _STRETCH - before, 0), min((stretch + 1) * _STRETCH - before, len(ends))
                    yield block[ends[start - 1] if start else 0 : ends[stop - 1]]
