"""A corpus as one stream of integer ids: find the tokens, number the words, on all cores."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.parallel import in_order
from nlptx.scan import Scan, Scanner
from nlptx.spool import Space
from nlptx.text import Tokenizer

# Characters handed to a thread at a time, unless memory is short, and the part of them that is scanned at once: its
# arrays fit the cache.
_CHUNK = 8_000_000
_PIECE = 1 << 18
# A chunk takes about ten times its characters, and a few are under way at a time.
_CHUNK_SHARE = 128
# What a distinct word takes in the tables here.
_BYTES_PER_WORD = 150
# Words up to this many bytes are numbers themselves, their bytes in a uint64.
_SHORT = 8
_ONES = np.array([(1 << 8 * size) - 1 for size in range(_SHORT)] + [2**64 - 1], np.uint64)
# Slots of the hash table for each distinct word, so that few share one.
_SLOTS_PER_WORD = 16
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class NumberedChunk:
    """Some documents, their words numbered.

    Args:
        words: the distinct words, in UTF-8; a word's number is its place here.
        ids: (N,) int32, the words of all documents in order.
        lengths: (documents,) int64, words per document.
    """

    words: list[bytes]
    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]


def number_words(documents: list[str], scanner: Scanner) -> NumberedChunk:
    """Find the tokens of ``documents`` and number the distinct words."""
    keys, lengths = [], []
    long: defaultdict[bytes, int] = defaultdict()
    long.default_factory = long.__len__
    spelled: list[tuple[NDArray[np.int64], list[int]]] = []
    tokens = 0
    for piece in _cut(documents, _PIECE):
        scan = scanner.scan(piece)
        key, written_out = _keys(scan)
        text = scan.text.tobytes() if len(written_out) else b""
        bounds = zip(scan.starts[written_out].tolist(), scan.ends[written_out].tolist(), strict=True)
        spelled.append((written_out + tokens, [long[text[start:end]] for start, end in bounds]))
        keys.append(key)
        lengths.append(scan.lengths)
        tokens += len(key)
    if not tokens:
        return NumberedChunk([], np.zeros(0, np.int32), np.zeros(len(documents), np.int64))
    key = np.concatenate(keys)
    distinct = _distinct(key)
    ids = _places(key, distinct)
    for places, numbers in spelled:
        ids[places] = np.array(numbers, np.int32) + len(distinct)
    words = [*distinct.astype("<u8").view(f"S{_SHORT}").tolist(), *long]
    return NumberedChunk(words, ids, np.concatenate(lengths))


def _keys(scan: Scan) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return each token's bytes as a number, 0 where they are too many, and the places of those tokens."""
    words = np.frombuffer(scan.text.data, "<u8", len(scan.text) // 8)
    sizes = scan.ends - scan.starts
    shift = (scan.starts & 7).astype(np.uint64) << np.uint64(3)
    place = scan.starts >> 3
    key = words[place] >> shift
    # Shifted twice, as a shift by 64 is not defined.
    key |= words[place + 1] << np.uint64(1) << (np.uint64(63) - shift)
    key &= _ONES[np.minimum(sizes, _SHORT)]
    long = sizes > _SHORT
    if (scan.text == 0).any():
        # A zero byte at the end of a word would not show in the number.
        zeros = np.concatenate([[0], np.cumsum(scan.text == 0)])
        long |= zeros[scan.ends] > zeros[scan.starts]
    key[long] = 0
    return key, np.flatnonzero(long)


def _distinct(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the keys that are not 0, each once, sorted. ``np.unique`` would hash, which takes longer."""
    ordered = np.concatenate([[np.uint64(0)], keys])
    ordered.sort()
    return ordered[1:][ordered[1:] != ordered[:-1]]


def _places(keys: NDArray[np.uint64], distinct: NDArray[np.uint64]) -> NDArray[np.int32]:
    """Return where in sorted ``distinct`` each key stands; anything for keys that do not.

    A hash table with a slot for one key finds nearly all of them; a binary search finds the rest.
    """
    bits = (_SLOTS_PER_WORD * len(distinct) | 1).bit_length()
    shift = np.uint64(64 - bits)
    table = np.zeros(1 << bits, np.int32)
    table[(distinct * _GOLDEN) >> shift] = np.arange(len(distinct), dtype=np.int32)
    ids = table[(keys * _GOLDEN) >> shift]
    if len(distinct):
        missed = np.flatnonzero(distinct[ids] != keys)
        ids[missed] = np.searchsorted(distinct, keys[missed])
    return ids


class TokenStream:
    """A corpus as ids, and how often each word was seen.

    Where more distinct words turn up than there is memory for, the rarest are dropped on the way, as
    word2vec does; each may have been seen up to ``dropped`` times, and is counted anew if it comes again.

    Args:
        space: how much memory there is, and where ids go that do not fit.

    Attributes:
        numbers: word, in UTF-8 -> its number.
        totals: (numbers or more,) int64, how often each number was seen.
        ids: int32, the numbers of all tokens.
        lengths: int64, tokens of each document.
        dropped: the count up to which words may have been dropped; 0 if none was.
    """

    def __init__(self, space: Space) -> None:
        self.numbers: defaultdict[bytes, int] = defaultdict(itertools.count().__next__)
        self.totals = np.zeros(1024, np.int64)
        self.ids = space.spool(np.int32, space.memory // 16)
        self.lengths = space.spool(np.int64, space.memory // 16)
        self.dropped = 0
        self._chunk = min(_CHUNK, max(space.memory // _CHUNK_SHARE, _PIECE))
        self._most_words = int(space.memory // (2 * _BYTES_PER_WORD))

    def read(self, texts: Iterable[str], tokenizer: Tokenizer, jobs: int) -> None:
        """Tokenise and number a corpus. The result depends on the texts alone, not on ``jobs``."""
        scanner = Scanner(tokenizer)
        for chunk in in_order(lambda part: number_words(part, scanner), _cut(texts, self._chunk), jobs):
            number = np.fromiter(map(self.numbers.__getitem__, chunk.words), np.int32, len(chunk.words))
            missing = int(number.max(initial=-1)) + 1 - len(self.totals)
            if missing > 0:
                self.totals = np.concatenate([self.totals, np.zeros(max(len(self.totals), missing), np.int64)])
            # Each word stands once in `number`, so this indexed sum loses nothing.
            self.totals[number] += np.bincount(chunk.ids, minlength=len(chunk.words))
            self.ids.append(number[chunk.ids])
            self.lengths.append(chunk.lengths)
            if len(self.numbers) > self._most_words:
                self._drop_rare_words()

    def _drop_rare_words(self) -> None:
        """Forget the rarest words, so that at most half as many remain as there is memory for."""
        counts = self.totals[np.fromiter(self.numbers.values(), np.int64, len(self.numbers))]
        counts.sort()
        self.dropped = max(self.dropped, int(counts[-(self._most_words // 2 + 1)]))
        kept = {word: number for word, number in self.numbers.items() if self.totals[number] > self.dropped}
        self.numbers = defaultdict(self.numbers.default_factory, kept)

    def close(self) -> None:
        """Let go of the ids."""
        self.ids.close()
        self.lengths.close()

    def counts(self) -> dict[bytes, int]:
        """Return how often each word was seen."""
        return {word: int(self.totals[number]) for word, number in self.numbers.items()}


def _cut(texts: Iterable[str], most: int) -> Iterator[list[str]]:
    """Group texts into lists of about ``most`` characters."""
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text) + 1
        if size >= most:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
