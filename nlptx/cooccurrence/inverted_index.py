"""An inverted index: documents joined into one text, and the positions of each word in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.io.spill import SpilledArray
from nlptx.runtime.radix_sort import radix_argsort
from nlptx.runtime.workers import Workers


@dataclass(frozen=True)
class InvertedIndex:
    """Documents as one text of known words, and the positions of each word in it.

    Padding around each document keeps windows from reaching into the next one. Positions are grouped by segment, which
    is a number of documents, and within a segment by word.

    Args:
        text: int32 word ids of the documents; V for padding.
        places: int32 or int64 index in ``text`` where the window around each position begins, one group after another.
        starts: (V + 1, segments) int64 index in ``places`` where each word's group begins; the last row is the end.
    """

    text: NDArray[np.int32]
    places: NDArray[np.integer]
    starts: NDArray[np.int64]

    def before(self) -> NDArray[np.int64]:
        """Return (V + 1,) int64: for each word the number of positions of all earlier words; the total is last."""
        return self.starts.sum(axis=1) - self.starts[0].sum()

    def of(self, first: int, after: int) -> NDArray[np.int64]:
        """Return where the windows around words ``first`` to ``after`` (exclusive) begin, segment by segment."""
        groups = zip(self.starts[first].tolist(), self.starts[after].tolist(), strict=True)
        return np.concatenate([self.places[start:stop] for start, stop in groups]).astype(np.int64)


def build_index(
    ids: SpilledArray,
    start: int,
    segments: list[NDArray[np.int64]],
    known: NDArray[np.int32],
    words: int,
    reach: int,
    workers: Workers,
) -> InvertedIndex:
    """Build the index of the known words of consecutive documents.

    Args:
        ids: int32 word ids of the corpus, in the numbering of the token stream.
        start: index in ``ids`` of the first token of the documents.
        segments: int64 number of tokens of each document, at least 1, one array per segment.
        known: (ids of the token stream,) int32 vocabulary id of each; -1 for words outside the vocabulary.
        words: V.
        reach: number of positions on each side that belong to a window.
        workers: threads.
    """
    tokens = [int(lengths.sum()) for lengths in segments]
    edges = np.cumsum([0, *tokens]).tolist()
    rooms = [count + reach * (len(lengths) + 1) for count, lengths in zip(tokens, segments, strict=True)]
    corners = np.cumsum([0, *rooms]).tolist()
    text = np.empty(corners[-1], np.int32)
    places = np.empty(edges[-1], np.int32 if len(text) < 1 << 31 else np.int64)
    starts = np.empty((words + 1, len(segments)), np.int64)

    def place(number: int) -> None:
        first, after = edges[number], edges[number + 1]
        found, lengths = _without_unknown(known[ids.read(start + first, start + after)], segments[number])
        # Index, within this segment's part of the text, where the window around each position begins.
        kind: type[np.signedinteger] = np.int32 if rooms[number] < 1 << 31 else np.int64
        padding = np.arange(0, reach * len(lengths), reach, dtype=kind)
        own = np.arange(len(found), dtype=kind) + np.repeat(padding, lengths)
        part = text[corners[number] : corners[number + 1]]
        part[...] = words
        part[own + reach] = found
        np.add(own[radix_argsort(found)], corners[number], out=places[first : first + len(found)], dtype=places.dtype)
        starts[0, number] = first
        starts[1:, number] = first + np.cumsum(np.bincount(found, minlength=words))

    for _ in workers.map(place, range(len(segments))):
        pass
    return InvertedIndex(text, places, starts)


def _without_unknown(ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Remove words with id -1, and documents that contain only such words."""
    known = ids >= 0
    left = np.add.reduceat(known, np.cumsum(lengths) - lengths, dtype=np.int64)
    return ids[known], left[left > 0]
