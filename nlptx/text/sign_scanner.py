"""A faster version of :mod:`nlptx.text.signs` for large blocks of text.

NumPy finds the few positions where a sign, such as an emoticon or a link, may start, and the patterns are matched only
at these positions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from nlptx.text.signs import MAX_BEFORE, MAX_LETTERS, apply_changes, sign_patterns

_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERS = _CAPITALS + _CAPITALS.lower()


def _table(characters: bytes) -> NDArray[np.bool_]:
    """Return a (256,) boolean array that is True for the bytes in ``characters``."""
    table = np.zeros(256, bool)
    table[list(characters)] = True
    return table


_IS_LETTER, _IS_DIGIT = _table(_LETTERS), _table(b"0123456789")
# Second characters of emoticons.
_IS_SECOND = _table(b")]([-'DPpOo*/\\|3^_")
_OUT_OF = len(" out of ")
# Maximum number of characters before the slash or the first space in a rating; "10.0/10" has four.
_POINTS = 4


def rewrite_signs_in_bytes(block: bytes) -> bytes:
    """Apply :func:`nlptx.text.signs.rewrite_signs` to each line of a block in UTF-8."""
    signs, shout = _patterns()
    codes = np.frombuffer(block, np.uint8)
    sign_matches = _matches(signs, block, _sign_starts(block, codes))
    shouted = _matches(shout, block, _shout_starts(block, codes))
    return b"".join(apply_changes(block, sign_matches, shouted, str.encode))


@cache
def _patterns() -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(pattern.encode(), re.VERBOSE) for pattern in sign_patterns(r"\x80-\xff"))


def _matches(pattern: re.Pattern[bytes], block: bytes, starts: Iterable[int]) -> Iterator[re.Match[bytes]]:
    """Iterate over the matches that ``pattern.finditer`` would find, given all positions where a match may start."""
    done = 0
    for start in sorted(starts):
        if start >= done and (match := pattern.match(block, start)):
            done = match.end()
            yield match


def _sign_starts(block: bytes, codes: NDArray[np.uint8]) -> set[int]:
    """Return the positions where a sign may start."""
    opening = (codes - np.uint8(ord(":"))) < 4  # one of :;<=
    for character in b"^`/@#":
        opening |= codes == character
    opens = np.flatnonzero(opening[:-1])
    first, second = codes[opens], codes[opens + 1]
    named = (first == ord("@")) | (first == ord("#"))
    fits = np.where(named, _IS_LETTER[second] | (second == ord("_")), _IS_SECOND[second] | (first == ord("`")))
    starts = set(opens[fits].tolist())
    starts.update(np.flatnonzero((codes[1:] == ord("D")) & (codes[:-1] | 0x20 == ord("x"))).tolist())  # xD
    same = codes[1:] == codes[:-1]
    three = same[1:] & same[:-1]
    three[1:] &= ~three[:-1]  # of four or more equal bytes in a row, keep only the first position
    tripled = np.flatnonzero(three)
    links = opens[(first == ord(":")) & (second == ord("/"))]
    within = {*tripled[_IS_LETTER[codes[tripled]]].tolist(), *links.tolist()}
    starts.update(_word_starts(block, sorted(within)))
    slashes = opens[(first == ord("/")) & (_IS_DIGIT[second] | (second == ord(" ")))]
    scales = np.flatnonzero((codes[2:] == ord("1")) | (codes[2:] == ord("5"))) + 2
    scales = scales[(codes[scales - 1] == ord(" ")) & (codes[scales - 2] == ord("f"))]
    for end in np.concatenate([slashes, scales - _OUT_OF]).tolist():
        starts.update(range(max(end - 1 - _POINTS, 0), end))
    return starts


def _shout_starts(block: bytes, codes: NDArray[np.uint8]) -> set[int]:
    """Return the positions where a shouted phrase may start.

    A shouted phrase may start at the first letter of a sequence of four or more capitals, or at the first letter of one
    of the few words in capitals before such a sequence.
    """
    capital = (codes - np.uint8(ord("A"))) < 26  # codes below that of A wrap around to large numbers
    two = capital[1:] & capital[:-1]
    four = two[2:] & two[:-2]
    four[1:] &= ~four[:-1]  # of five or more capitals in a row, keep only the first position
    starts = set()
    for start in np.flatnonzero(four).tolist():
        starts.add(start)
        for _ in range(MAX_BEFORE):
            if block[start - 1 : start] != b" ":
                break
            word = block[max(start - 1 - MAX_LETTERS, 0) : start - 1]
            start -= 1 + len(word) - len(word.rstrip(_CAPITALS))
            starts.add(start)
    return starts


def _word_starts(block: bytes, positions: list[int]) -> Iterator[int]:
    """For each of the sorted ``positions``, yield the start of the word that contains it or ends just before it."""
    before = start = 0
    for position in positions:
        at = position
        while at > before and block[at - 1] in _LETTERS:
            at -= 1
        if at > before or not at:
            start = at
        before = position
        yield start
