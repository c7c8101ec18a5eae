"""The words of some documents as numbers, found with NumPy: a word of up to 16 bytes is one or two integers itself."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.text.scanner import Scan, Scanner

# Bytes of an integer. Words up to so many are one, words up to twice as many are two.
_BYTES = 8
_ONES = np.array([(1 << 8 * size) - 1 for size in range(_BYTES)] + [2**64 - 1], np.uint64)
# The first table has one slot for so many keys, most of which are the same few words; any has so many slots at least.
_KEYS_PER_SLOT = 12
_SLOTS = 255
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class EncodedChunk:
    """Some documents, their words numbered.

    Args:
        words: the distinct words, in UTF-8; a word's number is its place here.
        ids: (N,) int32, the words of all documents in order.
        counts: (words,) int64, how often each occurs.
        lengths: (documents,) int64, words per document.
    """

    words: list[bytes]
    ids: NDArray[np.int32]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]


@dataclass(frozen=True)
class _Piece:
    """The N words of a block.

    Args:
        lengths: (documents,) words per document.
        short: (N,) uint64, the words of up to 8 bytes; 0 for others.
        middle: places of those of up to 16 bytes.
        first, second: uint64, their first eight bytes, and the rest.
        long: places of the others.
        spelled: these in UTF-8.
    """

    lengths: NDArray[np.int64]
    short: NDArray[np.uint64]
    middle: NDArray[np.int64]
    first: NDArray[np.uint64]
    second: NDArray[np.uint64]
    long: NDArray[np.int64]
    spelled: list[bytes]


def words_to_ids(blocks: Iterable[bytes], scanner: Scanner) -> EncodedChunk:
    """Find the tokens of ``blocks`` of lines, a document each, and number the distinct words."""
    pieces = [_read(scanner.scan(block)) for block in blocks]
    if not pieces:
        return EncodedChunk([], np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64))
    short = np.concatenate([piece.short for piece in pieces])
    ids, distinct, counts = _number(short)
    words: list[bytes] = distinct.astype("<u8").view(f"S{_BYTES}").tolist()
    starts = np.cumsum([0, *(len(piece.short) for piece in pieces[:-1])]).tolist()

    middle = _in_all([piece.middle for piece in pieces], starts)
    first = np.concatenate([piece.first for piece in pieces])
    second = np.concatenate([piece.second for piece in pieces])
    numbers, pairs, pair_counts = _number_pairs(first, second)
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


def _in_all(places: list[NDArray[np.int64]], starts: list[int]) -> NDArray[np.int64]:
    """Return places in each of some pieces as places in all of them, of which each begins at its start."""
    return np.concatenate([own + start for own, start in zip(places, starts, strict=True)])


def _read(scan: Scan) -> _Piece:
    sizes = scan.ends - scan.starts
    short = _integers(scan.text, scan.starts, sizes)
    if (scan.text == 0).any():
        # A zero byte at the end of a word would not show in an integer, so such words count as long.
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
    """Return the first bytes of some tokens, 8 at most, as an integer each."""
    eights = np.frombuffer(text.data, "<u8", len(text) // _BYTES)
    shift = (starts & 7).astype(np.uint64) << np.uint64(3)
    place = starts >> 3
    integers: NDArray[np.uint64] = eights[place] >> shift
    # Shifted twice, as a shift by 64 is not defined.
    integers |= eights[place + 1] << np.uint64(1) << (np.uint64(63) - shift)
    integers &= _ONES[np.minimum(sizes, _BYTES)]
    return integers


def _number_pairs(
    first: NDArray[np.uint64], second: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], list[bytes], NDArray[np.int64]]:
    """Return the number of each word that two integers spell, the distinct words, and how often each occurs."""
    first_ids, firsts, _ = _number(first)
    second_ids, seconds, _ = _number(second)
    pairs = first_ids.astype(np.uint64) << np.uint64(32) | second_ids.astype(np.uint64)
    pairs += np.uint64(1)  # as 0 stands for no word
    ids, distinct, counts = _number(pairs)
    distinct -= np.uint64(1)
    both = np.stack([firsts[distinct >> np.uint64(32)], seconds[distinct & np.uint64(0xFFFF_FFFF)]], axis=1)
    return ids, both.astype("<u8").view(f"S{2 * _BYTES}")[:, 0].tolist(), counts


def _number(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.int64]]:
    """Return the place of each key among the distinct ones, these, and how often each occurs.

    A key of 0 is none; its place is -1. All keys are written to a hash table, each over what stood in its slot. Those
    that are found there are numbered, which are nearly all, as a frequent key seldom loses its slot to a rare one.
    The others go into another table, by another hash.
    """
    ids = np.full(len(keys), -1, np.int32)
    left = np.flatnonzero(keys)
    keys = keys[left]
    distinct = [keys[:0]]
    words, hashing = 0, np.array([_GOLDEN])
    room = len(left) // _KEYS_PER_SLOT
    while len(left):
        bits = max(room, _SLOTS).bit_length()
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
        room = len(left)  # they may well be different words
    return ids, np.concatenate(distinct), np.bincount(ids + 1, minlength=words + 1)[1:]
