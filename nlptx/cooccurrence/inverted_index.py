"""An inverted index: several documents joined into one text, and the positions of each word in this text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.io.memory_budget import GrowingArray
from nlptx.runtime.radix_sort import radix_argsort
from nlptx.runtime.workers import Workers


@dataclass(frozen=True)
class InvertedIndex:
    """Several documents as one text of known words, and the positions of each word in this text.

    Padding around each document prevents windows from extending into another document. Positions are grouped by segment
    (several consecutive documents), and within a segment by word.

    Args:
        text: int32 word ids of the documents; id V stands for padding.
        windows: start of the window around each position, as an int32 or int64 index in ``text``; the positions are in
            the order of the groups.
        starts: (V + 1, segments) int64; ``starts[w, s]`` is the index in ``windows`` at which the group of word w in
            segment s begins, and the last row contains the end of each segment.
    """

    text: NDArray[np.int32]
    windows: NDArray[np.integer]
    starts: NDArray[np.int64]

    def positions_before(self) -> NDArray[np.int64]:
        """Return (V + 1,) int64: for each word id, the number of positions of words with smaller ids.

        The last element is the total number of positions.
        """
        return self.starts.sum(axis=1) - self.starts[0].sum()

    def windows_of(self, start: int, stop: int) -> NDArray[np.int64]:
        """Return the start of each window around a word in a range of ids: (windows,) indices in ``text``.

        The windows are grouped by segment, and within a segment by word.

        Args:
            start: smallest word id in the range.
            stop: largest word id in the range, plus 1.
        """
        groups = zip(self.starts[start].tolist(), self.starts[stop].tolist(), strict=True)
        return np.concatenate([self.windows[first:end] for first, end in groups]).astype(np.int64)


def build_index(
    ids: GrowingArray,
    start: int,
    segments: list[NDArray[np.int64]],
    vocabulary_ids: NDArray[np.int32],
    words: int,
    reach: int,
    workers: Workers,
) -> InvertedIndex:
    """Build the index of the known words of consecutive documents.

    Args:
        ids: int32 word ids of the corpus, as assigned by the token stream.
        start: index in ``ids`` of the first token of the documents.
        segments: one int64 array per segment, with the number of tokens of each document (at least 1).
        vocabulary_ids: int32 array that maps word ids of the token stream to vocabulary ids; -1 for words outside the
            vocabulary.
        words: V, the number of words in the vocabulary.
        reach: number of positions on each side of a word that belong to its window.
        workers: threads that index the segments.
    """
    tokens = [int(lengths.sum()) for lengths in segments]
    edges = np.cumsum([0, *tokens]).tolist()
    sizes = [count + reach * (len(lengths) + 1) for count, lengths in zip(tokens, segments, strict=True)]
    offsets = np.cumsum([0, *sizes]).tolist()
    text = np.empty(offsets[-1], np.int32)
    windows = np.empty(edges[-1], np.int32 if len(text) < 1 << 31 else np.int64)
    starts = np.empty((words + 1, len(segments)), np.int64)

    def index_segment(number: int) -> None:
        first, end = edges[number], edges[number + 1]
        kept, lengths = _without_unknown(vocabulary_ids[ids.read(start + first, start + end)], segments[number])
        # `local[i]` is the start of the window around the i-th kept word, as an index in this segment's part of `text`.
        dtype: type[np.signedinteger] = np.int32 if sizes[number] < 1 << 31 else np.int64
        padding = np.arange(0, reach * len(lengths), reach, dtype=dtype)
        local = np.arange(len(kept), dtype=dtype) + np.repeat(padding, lengths)
        part = text[offsets[number] : offsets[number + 1]]
        part[...] = words
        part[local + reach] = kept
        segment = windows[first : first + len(kept)]
        np.add(local[radix_argsort(kept)], offsets[number], out=segment, dtype=windows.dtype)
        starts[0, number] = first
        starts[1:, number] = first + np.cumsum(np.bincount(kept, minlength=words))

    for _ in workers.map(index_segment, range(len(segments))):
        pass
    return InvertedIndex(text, windows, starts)


def _without_unknown(ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Remove words with id -1, and documents that contain no other words."""
    known = ids >= 0
    kept_lengths = np.add.reduceat(known, np.cumsum(lengths) - lengths, dtype=np.int64)
    return ids[known], kept_lengths[kept_lengths > 0]
