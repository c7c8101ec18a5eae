"""Encoding words as integer ids with NumPy: the bytes of a word of up to 16 bytes become one or two integers."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.text.scanner import Scan, Scanner

# Bytes per integer. Words of up to 8 bytes are one integer, words of up to 16 bytes are two.
_BYTES = 8
_ONES = np.array([(1 << 8 * size) - 1 for size in range(_BYTES)] + [2**64 - 1], np.uint64)
# Keys per slot of the first hash table (most keys are the same few words), and the minimum number of slots.
_KEYS_PER_SLOT = 12
_MIN_SLOTS = 255
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class EncodedChunk:
    """Some documents as word ids.

    Args:
        words: the distinct words in UTF-8; the id of a word is its index here.
        ids: (N,) int32 ids of the words of all documents, in order.
        counts: (words,) int64 occurrences of each word.
        lengths: (documents,) int64 words per document.
    """

    words: list[bytes]
    ids: NDArray[np.int32]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]


@dataclass(frozen=True)
class _Piece:
    """The N words of a block, by their length in bytes.

    Args:
        lengths: (documents,) words per document.
        short: (N,) uint64 words of up to 8 bytes; 0 for the others.
        middle: positions of words of 9 to 16 bytes.
        first: uint64, the first eight bytes of each of these.
        second: uint64, their remaining bytes.
        long: positions of words of more than 16 bytes.
        spelled: these words in UTF-8.
    """

    lengths: NDArray[np.int64]
    short: NDArray[np.uint64]
    middle: NDArray[np.int64]
    first: NDArray[np.uint64]
    second: NDArray[np.uint64]
    long: NDArray[np.int64]
    spelled: list[bytes]


def words_to_ids(blocks: Iterable[bytes], scanner: Scanner) -> EncodedChunk:
    """Tokenize ``blocks`` of lines, one document per line, and encode the words as ids."""
    pieces = [_read(scanner.scan(block)) for block in blocks]
    if not pieces:
        return EncodedChunk([], np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64))
    short = np.concatenate([piece.short for piece in pieces])
    ids, distinct, counts = _encode(short)
    words: list[bytes] = distinct.astype("<u8").view(f"S{_BYTES}").tolist()
    starts = np.cumsum([0, *(len(piece.short) for piece in pieces[:-1])]).tolist()

    middle = _in_all([piece.middle for piece in pieces], starts)
    first = np.concatenate([piece.first for piece in pieces])
    second = np.concatenate([piece.second for piece in pieces])
    numbers, pairs, pair_counts = _encode_pairs(first, second)
    ids[middle] = numbers + len(words)
    words += pairs

    long = _in_all([piece.long for piece in pieces], starts)
    table: defaultdict[bytes, int] = defaultdict(itertools.count().__next__)
    spelled = itertools.chain.from_iterable(piece.spelled for piece in pieces)
    numbers = np.fromiter(map(table.__getitem__, spelled), np.int32, len(long))
    ids[long] = numbers + len(words)
    words += table
    lengths = np.concatenate([piece.lengths for piece in pieces])
    return EncodedChunk(words, ids, np.concatenate([counts, pair_counts, np.bincount(numbers)]), lengths)


def _in_all(positions: list[NDArray[np.int64]], starts: list[int]) -> NDArray[np.int64]:
    """Turn positions within each piece into positions within all pieces; ``starts`` is where each piece begins."""
    return np.concatenate([own + start for own, start in zip(positions, starts, strict=True)])


def _read(scan: Scan) -> _Piece:
    sizes = scan.ends - scan.starts
    short = _integers(scan.text, scan.starts, sizes)
    if (scan.text == 0).any():
        # An integer cannot show a zero byte at the end of a word, so such words are treated as long.
        zeros = np.concatenate([[0], np.cumsum(scan.text == 0)])
        sizes[zeros[scan.ends] != zeros[scan.starts]] = 2 * _BYTES + 1
    longer = np.flatnonzero(sizes > _BYTES)
    short[longer] = 0
    two = sizes[longer] <= 2 * _BYTES
    middle, long = longer[two], longer[~two]
    starts = scan.starts[middle]
    first = _integers(scan.text, starts, sizes[middle])
    second = _integers(scan.text, starts + _BYTES, sizes[middle] - _BYTES)
    text = scan.text.tobytes() if len(long) else b""
    bounds = zip(scan.starts[long].tolist(), scan.ends[long].tolist(), strict=True)
    return _Piece(scan.lengths, short, middle, first, second, long, [text[start:end] for start, end in bounds])


def _integers(text: NDArray[np.uint8], starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the first bytes (at most 8) of each token as one integer."""
    eights = np.frombuffer(text.data, "<u8", len(text) // _BYTES)
    shift = (starts & 7).astype(np.uint64) << np.uint64(3)
    index = starts >> 3
    integers: NDArray[np.uint64] = eights[index] >> shift
    # Two shifts, because a single shift by 64 is undefined.
    integers |= eights[index + 1] << np.uint64(1) << (np.uint64(63) - shift)
    integers &= _ONES[np.minimum(sizes, _BYTES)]
    return integers


def _encode_pairs(
    first: NDArray[np.uint64], second: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], list[bytes], NDArray[np.int64]]:
    """Encode words that two integers spell: return their ids, the distinct words and the occurrences of each."""
    first_ids, firsts, _ = _encode(first)
    second_ids, seconds, _ = _encode(second)
    pairs = first_ids.astype(np.uint64) << np.uint64(32) | second_ids.astype(np.uint64)
    pairs += np.uint64(1)  # 0 means "no word"
    ids, distinct, counts = _encode(pairs)
    distinct -= np.uint64(1)
    both = np.stack([firsts[distinct >> np.uint64(32)], seconds[distinct & np.uint64(0xFFFF_FFFF)]], axis=1)
    return ids, both.astype("<u8").view(f"S{2 * _BYTES}")[:, 0].tolist(), counts


def _encode(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.int64]]:
    """Return the id of each key (its index among the distinct keys), the distinct keys, and the occurrences of each.

    Key 0 means "no key"; its id is -1. All keys are written to a hash table, where later keys overwrite earlier ones in
    the same slot. The keys that remain in their slot get ids: nearly all, because a frequent key is rarely overwritten
    by a rare one. The others go to another table with another hash.
    """
    ids = np.full(len(keys), -1, np.int32)
    left = np.flatnonzero(keys)
    keys = keys[left]
    distinct = [keys[:0]]
    words, hashing = 0, np.array([_GOLDEN])
    room = len(left) // _KEYS_PER_SLOT
    while len(left):
        bits = max(room, _MIN_SLOTS).bit_length()
        slots = ((keys * hashing) >> np.uint64(64 - bits)).view(np.int64)
        table = np.zeros(1 << bits, np.uint64)
        table[slots] = keys
        taken = np.flatnonzero(table)
        number = np.zeros(len(table), np.int32)
        number[taken] = np.arange(words, words + len(taken))
        ids[left] = number.take(slots)
        distinct.append(table[taken])
        words += len(taken)
        lost = np.flatnonzero(table.take(slots) != keys)
        left, keys, hashing = left[lost], keys[lost], hashing * _GOLDEN
        room = len(left)  # these may all be distinct
    return ids, np.concatenate(distinct), np.bincount(ids + 1, minlength=words + 1)[1:]
