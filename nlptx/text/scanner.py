"""Fast tokenization: NumPy processes the UTF-8 bytes of many documents at once.

Each byte is assigned a class; tokens start and end where the class changes. The tokens are the same as those of
:mod:`nlptx.text.tokenizer`, which processes one document at a time, but the scanner is several times faster.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nlptx.text.cleaning import SEPARATOR, clean, clean_expressively, decode_references_in_bytes, lower
from nlptx.text.sign_scanner import rewrite_signs_in_bytes
from nlptx.text.tokenizer import FLAG_LETTERS, Tokenizer

# Character classes: not part of any token; part of a word; a token by itself; a combining mark, which belongs to the
# preceding word; and not classified yet.
_SPACE, _WORD, _SINGLE, _COMBINING, _UNKNOWN = range(5)
_APOSTROPHE, _LINE_FEED = ord("'"), ord("\n")
# Number of spaces added before and after the text, so that indices a few bytes before its start or after its end are
# valid.
_BEFORE, _AFTER = 2, 16
# HTML line breaks, as in :mod:`nlptx.text.cleaning`, but without line feeds inside them: a line feed ends a document.
_LINE_BREAK = re.compile(rb"<br[\t\v\f\r\x1c-\x1f ]*/?>", re.IGNORECASE)


@dataclass(frozen=True)
class Scan:
    """The positions of the tokens of several documents.

    Args:
        text: uint8 UTF-8 bytes of all documents, one after another.
        starts: (N,) int64 index in ``text`` of the first byte of each token.
        ends: (N,) int64 index after the last byte of each token.
        lengths: (documents,) int64 number of tokens per document.
    """

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    lengths: NDArray[np.int64]


class Scanner:
    """Finds tokens. Several threads may use the same scanner.

    Args:
        tokenizer: the tokenizer that defines the tokens.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._words = tokenizer.name != "spaces"
        self._expressive = tokenizer.rewrites_signs
        self._class_of = _class_in_words if self._words else _class_between_spaces
        self._byte_classes = np.array([self._class_of(chr(code)) for code in range(128)] + [_SPACE] * 128, np.uint8)
        # Classes of non-ASCII characters, each computed when the character first occurs.
        self._classes = np.full(0x110000, _UNKNOWN, np.uint8)
        if self._expressive:
            self._classes[[ord(letter) for letter in FLAG_LETTERS]] = _WORD

    def scan(self, block: bytes) -> Scan:
        """Return the tokens of a block of lines, one document per line."""
        text = np.frombuffer(b" " * _BEFORE + self._clean(block) + b" " * _AFTER, np.uint8)
        first, last = self._bounds(text)
        starts, ends = np.flatnonzero(first), np.flatnonzero(last) + 1
        edges = np.searchsorted(starts, np.flatnonzero(text == _LINE_FEED))
        return Scan(text, starts, ends, np.diff(edges, prepend=0))

    def _clean(self, block: bytes) -> bytes:
        """Clean the lines, and convert them to lower case if the tokenizer requires it."""
        if self._words:
            block = decode_references_in_bytes(block)
        if not block.isascii():
            lines = block.split(b"\n")
            block = b"\n".join([line if line.isascii() else self._clean_line(line) for line in lines])
        if self._words:
            block = _LINE_BREAK.sub(SEPARATOR.encode(), block)
        if self._expressive:
            block = rewrite_signs_in_bytes(block)
        return block.lower() if self.tokenizer.lowercase else block

    def _clean_line(self, line: bytes) -> bytes:
        """Clean a line with non-ASCII characters, which cannot be processed byte by byte."""
        text = line.decode("utf-8", "surrogatepass")
        if self._expressive:
            return clean_expressively(text, self.tokenizer.lowercase).encode("utf-8", "surrogatepass")
        text = lower(text) if self.tokenizer.lowercase else text
        return (clean(text) if self._words else text).encode("utf-8", "surrogatepass")

    def _bounds(self, text: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return two boolean arrays: whether each byte is the first of a token, and whether it is the last of a token.

        The tokens of "don't stop!" are do, n't, stop and !, so their first (f) and last (l) bytes are::

            d o n ' t   s t o p !
            f   f       f       f
              l     l         l l
        """
        classes = self._byte_classes.take(text)
        wide = np.flatnonzero(text >= 0xC0)  # first bytes of multi-byte characters
        sizes, kinds = self._classify(text, wide)
        for byte in range(4):
            classes[wide[sizes > byte] + byte] = kinds[sizes > byte]
        nots, short, long = _contractions(text, classes) if self._words else (wide[:0],) * 3
        separate = kinds == _SINGLE
        if (kinds == _COMBINING).any():
            _join_combining_marks(classes, np.concatenate([nots + 1, short + 1, long + 2]))
            separate |= (kinds == _COMBINING) & (classes[wide] != _WORD)
        word, single = classes == _WORD, classes == _SINGLE
        single[text >= 0x80] = False  # multi-byte characters; their bounds are set below
        starts, lasts = single | word, single | word
        starts[1:] &= ~(word[:-1] & word[1:])
        lasts[:-1] &= ~(word[1:] & word[:-1])
        starts[wide[separate]] = True
        lasts[(wide + sizes - 1)[separate]] = True
        starts[nots - 1] = True
        lasts[nots - 2] |= word[nots - 2]
        for inner in (nots, nots + 1, short + 1, long + 1):
            starts[inner] = False
            lasts[inner - 1] = False
        return starts, lasts

    def _classify(
        self, text: NDArray[np.uint8], wide: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the size in bytes and the class of each character that begins at an index in ``wide``."""
        first = text[wide].astype(np.int64)
        sizes = 2 + (first >= 0xE0) + (first >= 0xF0)
        code = first & (0x7F >> sizes)
        for byte in (1, 2, 3):
            code = np.where(sizes > byte, code << 6 | text[wide + byte] & 0x3F, code)
        for new in set(code[self._classes[code] == _UNKNOWN].tolist()):
            self._classes[new] = self._class_of(chr(new))
        return sizes, self._classes[code]


def _class_between_spaces(character: str) -> int:
    return _SPACE if character.isspace() else _WORD


def _class_in_words(character: str) -> int:
    if character.isalnum():
        return _WORD
    category = unicodedata.category(character)
    if category[0] == "M":
        return _COMBINING
    # The zero-width space only separates words; control characters and lone surrogates are not part of any token.
    is_outside = character.isspace() or category in ("Cc", "Cs") or character == "\u200b"
    return _SPACE if is_outside else _SINGLE


@lru_cache(8)
def scanner_of(tokenizer: Tokenizer) -> Scanner:
    """Return the scanner of a tokenizer. The scanners of the last few tokenizers are cached."""
    return Scanner(tokenizer)


def _contractions(text: NDArray[np.uint8], classes: NDArray[np.uint8]) -> tuple[NDArray[np.int64], ...]:
    """Return three arrays of positions of apostrophes: in n't; in 's, 'm and 'd; and in 're, 've and 'll."""
    positions = np.flatnonzero(text == _APOSTROPHE)
    before, one, two = (text[positions + step] for step in (-1, 1, 2))
    after_one, after_two = (classes[positions + step] != _WORD for step in (2, 3))
    same_case = (before ^ one) & 0x20 == 0
    nots = _is_letter(before, "n") & _is_letter(one, "t") & after_one & same_case
    # A contraction can also end where n't begins, as in I'dn't: the apostrophe of n't is then
    # three bytes after the apostrophe of 's, 'm or 'd, or four bytes after the apostrophe of 're, 've or 'll.
    to_not = np.where(nots[1:], np.diff(positions), 0)
    after_one[:-1] |= to_not == 3
    after_two[:-1] |= to_not == 4
    short = (_is_letter(one, "s") | _is_letter(one, "m") | _is_letter(one, "d")) & after_one
    long = (
        _is_letter(one, "r") & _is_letter(two, "e")
        | _is_letter(one, "v") & _is_letter(two, "e")
        | _is_letter(one, "l") & _is_letter(two, "l")
    ) & after_two
    return positions[nots], positions[short], positions[long]


def _is_letter(codes: NDArray[np.uint8], letter: str) -> NDArray[np.bool_]:
    """Return, for each byte, whether it is the ASCII letter ``letter``, in lower or upper case."""
    return (codes | 0x20) == ord(letter)


def _join_combining_marks(classes: NDArray[np.uint8], contraction_ends: NDArray[np.int64]) -> None:
    """Make each combining mark part of the word directly before it, unless this word is a contraction."""
    marks = np.flatnonzero(classes == _COMBINING)
    follows = classes[marks - 1] == _WORD
    follows &= ~np.isin(marks - 1, contraction_ends)
    # consecutive marks are all treated like the first of them
    first = classes[marks - 1] != _COMBINING
    joined = follows[first][np.cumsum(first) - 1]
    classes[marks[joined]] = _WORD
