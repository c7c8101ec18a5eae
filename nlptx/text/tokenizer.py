"""The tokenizer: which words and punctuation marks a text consists of."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

# HTML line breaks, as the IMDB reviews are full of them.
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# Contractions come apart as in the Penn Treebank (do n't, film 's): the parts recur, the whole does not.
_WORD_ENDS = r"(?![^\W_])"
_CONTRACTION = rf"(?i:n't{_WORD_ENDS}|'(?:s|m|d|re|ve|ll){_WORD_ENDS})"
# Two patterns, as ignoring case would take a tenth of the tokenizer's speed.
_NOT, _NOT_SHOUTED = re.compile("n't" + _WORD_ENDS), re.compile("N'T" + _WORD_ENDS)
_ASCII_TOKEN = re.compile(_CONTRACTION + r"|[A-Za-z0-9]+|[!-/:-@\[-`{-~]")
# Soft hyphens, joiners, marks of direction and of the form of the character before: they belong to no word.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)


def split_words(text: str) -> list[str]:
    """Cut text into words, contractions and single punctuation marks.

    This says what a token is; :mod:`nlptx.text.scanner` finds the same ones in many texts at once. HTML line breaks
    and invisible characters vanish; Unicode is composed (NFC) and curly apostrophes become straight.

    >>> split_words("I don't like it.<br />Not at all!")
    ['I', 'do', "n't", 'like', 'it', '.', 'Not', 'at', 'all', '!']
    """
    text = clean(text)
    token = _ASCII_TOKEN if text.isascii() else _unicode_token()
    return token.findall(_NOT_SHOUTED.sub(" N'T", _NOT.sub(" n't", text)))


def clean(text: str) -> str:
    """Return ``text`` without HTML line breaks and invisible characters, composed, its apostrophes straight."""
    if "<" in text:
        text = _LINE_BREAK.sub(" ", text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).replace("\u2019", "'")
    return text


@cache
def _unicode_token() -> re.Pattern[str]:
    r"""Return the pattern of a token in any script; built when first needed, as that takes some milliseconds.

    `\w` leaves out combining marks, which belong to the word in Indic, Hebrew, Arabic, Thai or Burmese script.
    """
    everything = map(chr, range(0x300, 0x1F000))  # from the first mark to the end of the last script that has some
    marks = "".join(character for character in everything if unicodedata.category(character)[0] == "M")
    # Most words even of such a text are ASCII; a pattern of their own makes them several times as fast.
    ascii_word = r"[A-Za-z0-9]++(?![^\x00-\x7f])"
    word = rf"[^\W_]+(?:[{marks}]+[^\W_]*)*"
    # The zero-width space only parts words, and half of a surrogate pair, which JSON can hold, is no character.
    other = r"[^\w\s\x00-\x1f\x7f-\x9f\u200b\ud800-\udfff]|_"
    return re.compile(f"{_CONTRACTION}|{ascii_word}|{word}|{other}")


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"words": split_words, "spaces": str.split}


@dataclass(frozen=True)
class Tokenizer:
    """How a text becomes tokens; stored with every vocabulary, so that all stages agree.

    Args:
        name: ``words`` (:func:`split_words`) or ``spaces`` (text that is tokenised already).
        lowercase: fold to lower case first.
    """

    name: str = "words"
    lowercase: bool = True

    def __call__(self, text: str) -> list[str]:
        return TOKENIZERS[self.name](text.lower() if self.lowercase else text)
