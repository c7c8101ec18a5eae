"""Encodes words as integer ids with NumPy. Words of up to 16 bytes are treated as one or two integers."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.runtime.hashing import MULTIPLIER
from nlptx.text.scanner import Scan, Scanner

# Bytes per integer. A word of up to 8 bytes is represented by one integer, a longer word of up to 16 bytes by two.
_BYTES = 8
# For each n from 0 to 8, a mask that keeps the lowest n bytes of an integer.
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(_BYTES)] + [2**64 - 1], np.uint64)
# Maximum number of keys per slot of the first hash table. The table can have fewer slots than keys, because most keys
# occur many times. The number of slots is a power of two above _MIN_SLOTS.
_KEYS_PER_SLOT = 12
_MIN_SLOTS = 255


@dataclass(frozen=True)
class EncodedChunk:
    """Several documents, encoded as word ids.

    Args:
        words: the distinct words in UTF-8; the id of a word is its index in this list.
        ids: (N,) int32 ids of the words of all documents, in order.
        counts: (words,) int64 number of occurrences of each word.
        lengths: (documents,) int64 number of words per document.
    """

    words: list[bytes]
    ids: NDArray[np.int32]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]


@dataclass(frozen=True)
class _Piece:
    """The N words of a block, grouped by their length in bytes.

    Args:
        lengths: (documents,) number of words per document.
        short: (N,) uint64, the bytes of each word of up to 8 bytes; 0 for longer words.
        middle: positions of the words of 9 to 16 bytes.
        first: uint64, the first eight bytes of each word at a position in ``middle``.
        second: uint64, the remaining bytes of each word at a position in ``middle``.
        long: positions of the words of more than 16 bytes.
        long_words: the words at the positions ``long``, in UTF-8.
    """

    lengths: NDArray[np.int64]
    short: NDArray[np.uint64]
    middle: NDArray[np.int64]
    first: NDArray[np.uint64]
    second: NDArray[np.uint64]
    long: NDArray[np.int64]
    long_words: list[bytes]


def words_to_ids(blocks: Iterable[bytes], scanner: Scanner) -> EncodedChunk:
    """Tokenize ``blocks`` of lines, one document per line, and encode the words as ids."""
    pieces = [_read(scanner.scan(block)) for block in blocks]
    if not pieces:
        return EncodedChunk([], np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0, np.int64))
    short = np.concatenate([piece.short for piece in pieces])
    ids, distinct, counts = _encode(short)
    words: list[bytes] = distinct.astype("<u8").view(f"S{_BYTES}").tolist()
    starts = np.cumsum([0, *(len(piece.short) for piece in pieces[:-1])]).tolist()

    middle = _concatenated_positions([piece.middle for piece in pieces], starts)
    first = np.concatenate([piece.first for piece in pieces])
    second = np.concatenate([piece.second for piece in pieces])
    pair_ids, pairs, pair_counts = _encode_pairs(first, second)
    ids[middle] = pair_ids + len(words)
    words += pairs

    long = _concatenated_positions([piece.long for piece in pieces], starts)
    table: defaultdict[bytes, int] = defaultdict(itertools.count().__next__)
    long_words = itertools.chain.from_iterable(piece.long_words for piece in pieces)
    long_ids = np.fromiter(map(table.__getitem__, long_words), np.int32, len(long))
    ids[long] = long_ids + len(words)
    words += table
    lengths = np.concatenate([piece.lengths for piece in pieces])
    return EncodedChunk(words, ids, np.concatenate([counts, pair_counts, np.bincount(long_ids)]), lengths)


def _concatenated_positions(positions: list[NDArray[np.int64]], starts: list[int]) -> NDArray[np.int64]:
    """Convert positions within the pieces to positions in their concatenation, given the start of each piece."""
    return np.concatenate([local + start for local, start in zip(positions, starts, strict=True)])


def _read(scan: Scan) -> _Piece:
    sizes = scan.ends - scan.starts
    short = _integers(scan.text, scan.starts, sizes)
    if (scan.text == 0).any():
        # An integer cannot represent NUL bytes at the end of a word, so words with NUL bytes are treated as long words.
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
    """Return the first 8 bytes of each token, or all bytes of a shorter token, as one integer."""
    eights = np.frombuffer(text.data, "<u8", len(text) // _BYTES)
    shift = (starts & 7).astype(np.uint64) << np.uint64(3)
    index = starts >> 3
    integers: NDArray[np.uint64] = eights[index] >> shift
    # The left shift is done in two steps, because a single shift by 64 bits (if `shift` is 0) would be undefined.
    integers |= eights[index + 1] << np.uint64(1) << (np.uint64(63) - shift)
    integers &= _MASKS[np.minimum(sizes, _BYTES)]
    return integers


def _encode_pairs(
    first: NDArray[np.uint64], second: NDArray[np.uint64]
) -> tuple[NDArray[np.int32], list[bytes], NDArray[np.int64]]:
    """Encode words that are given as two integers each. Return the word ids, the distinct words, and their counts."""
    first_ids, firsts, _ = _encode(first)
    second_ids, seconds, _ = _encode(second)
    pairs = first_ids.astype(np.uint64) << np.uint64(32) | second_ids.astype(np.uint64)
    pairs += np.uint64(1)  # 0 means "no word"
    ids, distinct, counts = _encode(pairs)
    distinct -= np.uint64(1)
    both = np.stack([firsts[distinct >> np.uint64(32)], seconds[distinct & np.uint64(0xFFFF_FFFF)]], axis=1)
    return ids, both.astype("<u8").view(f"S{2 * _BYTES}")[:, 0].tolist(), counts


def _encode(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint64], NDArray[np.int64]]:
    """Return the id of each key (its index among the distinct keys), the distinct keys, and their counts.

    Key 0 means "no key"; its id is -1. All keys are written to a hash table, where later keys overwrite earlier ones in
    the same slot. The keys that remain in their slots receive ids; they account for nearly all occurrences, because a
    frequent key is rarely overwritten by a rare one. The other keys are written to another table, with a different hash
    function, and so on until every key has an id.
    """
    ids = np.full(len(keys), -1, np.int32)
    pending = np.flatnonzero(keys)
    keys = keys[pending]
    distinct = [keys[:0]]
    words, multiplier = 0, np.array([MULTIPLIER])
    capacity = len(pending) // _KEYS_PER_SLOT
    while len(pending):
        bits = max(capacity, _MIN_SLOTS).bit_length()
        slots = ((keys * multiplier) >> np.uint64(64 - bits)).view(np.int64)
        table = np.zeros(1 << bits, np.uint64)
        table[slots] = keys
        taken = np.flatnonzero(table)
        slot_ids = np.zeros(len(table), np.int32)
        slot_ids[taken] = np.arange(words, words + len(taken))
        ids[pending] = slot_ids.take(slots)
        distinct.append(table[taken])
        words += len(taken)
        overwritten = np.flatnonzero(table.take(slots) != keys)
        pending, keys, multiplier = pending[overwritten], keys[overwritten], multiplier * MULTIPLIER
        capacity = len(pending)  # one key per slot, because all remaining keys may be distinct
    return ids, np.concatenate(distinct), np.bincount(ids + 1, minlength=words + 1)[1:]
