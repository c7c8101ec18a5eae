"""The tokenizer, which splits a text into words and punctuation marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

from nlptx.text.cleaning import clean, clean_expressively, decode_references, lower, replace_line_breaks
from nlptx.text.negation import mark_negated
from nlptx.text.signs import rewrite_signs

# Contractions are split as in the Penn Treebank (do n't, film 's), because the two parts are far more frequent than the
# complete word.
_WORD_ENDS = r"(?![^\W_])"
_NOT = rf"(?:n't|N'T){_WORD_ENDS}"
_CONTRACTION = rf"{_NOT}|'(?:[sSmMdD]|[rR][eE]|[vV][eE]|[lL][lL])(?:{_WORD_ENDS}|(?={_NOT}))"
_ASCII_WORD = rf"(?:(?!{_NOT})[A-Za-z0-9])++"
# Two of these letters form the emoji of a flag.
FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_ASCII_TOKEN = re.compile(rf"{_CONTRACTION}|{_ASCII_WORD}|[!-/:-@\[-`{{-~]")


def split_words(text: str, lowercase: bool = False) -> list[str]:
    """Split text into words, contractions and single punctuation marks.

    This function defines what a token is; :mod:`nlptx.text.scanner` finds the same tokens in large blocks of text.
    The text is cleaned first; see :mod:`nlptx.text.cleaning`.

    >>> split_words("I don't like it.<br />Not at all, R&amp;B!")
    ['I', 'do', "n't", 'like', 'it', '.', 'Not', 'at', 'all', ',', 'R', '&', 'B', '!']
    """
    text = decode_references(text)
    text = clean(lower(text) if lowercase else text)
    token = _ASCII_TOKEN if text.isascii() else _unicode_token()
    return token.findall(text)


def split_expressively(text: str, lowercase: bool = False) -> list[str]:
    """Split text like :func:`split_words`, after rewriting signs of opinion that are not words, such as emoji.

    See :mod:`nlptx.text.emoji` and :mod:`nlptx.text.signs`.

    >>> split_expressively("Sooooo GOOD!! 👍🏽 :-) ★★★★☆", lowercase=True)
    ['↔', 'so', '⇪', 'good', '!', '!', '👍', '🙂', '⑧']
    """
    text = decode_references(text.replace("\n", " "))
    text = replace_line_breaks(text) if text.isascii() else clean_expressively(text, lowercase)
    text = rewrite_signs(text)
    if lowercase:
        text = text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")
    token = _ASCII_TOKEN if text.isascii() else _unicode_token(FLAG_LETTERS)
    return token.findall(text)


def split_at_spaces(text: str, lowercase: bool = False) -> list[str]:
    """Split text only at white space, for text that is already tokenized."""
    return (lower(text) if lowercase else text).split()


@cache
def _unicode_token(more_letters: str = "") -> re.Pattern[str]:
    r"""Return the pattern of a token in any script.

    The pattern is built only when it is first needed, because building it takes tens of milliseconds.

    The pattern lists the combining marks, which are part of words in Indic, Hebrew, Arabic, Thai and Burmese scripts,
    because `\w` does not match them.
    """
    characters = map(chr, range(0x300, 0x1F000))  # all scripts that have combining marks
    marks = "".join(character for character in characters if unicodedata.category(character)[0] == "M")
    # Even in text that is not all ASCII, most words are ASCII; a separate pattern for them is several times faster.
    ascii_word = rf"{_ASCII_WORD}(?![^\x00-\x7f])"
    letter = rf"(?:(?!{_NOT})(?:[^\W_]|[{more_letters}]))" if more_letters else rf"(?:(?!{_NOT})[^\W_])"
    word = rf"{letter}+(?:[{marks}]+{letter}*)*"
    # A token of one character, such as a punctuation mark. White space, control characters, zero-width spaces (which
    # only separate words) and lone surrogates (which JSON can contain) are not tokens.
    other = r"[^\w\s\x00-\x1f\x7f-\x9f\u200b\ud800-\udfff]|_"
    return re.compile(f"{_CONTRACTION}|{ascii_word}|{word}|{other}")


TOKENIZERS: dict[str, Callable[[str, bool], list[str]]] = {
    "words": split_words,
    "negation": split_expressively,
    "expressive": split_expressively,
    "spaces": split_at_spaces,
}


@dataclass(frozen=True)
class Tokenizer:
    """A tokenizer with its options. Every vocabulary stores its tokenizer, so that all stages use the same one.

    Args:
        name: ``words`` (:func:`split_words`), ``expressive`` (:func:`split_expressively`), ``negation`` (like
            ``expressive``, with negated words marked; see :mod:`nlptx.text.negation`) or ``spaces``
            (:func:`split_at_spaces`, for text that is already tokenized).
        lowercase: whether the tokens are converted to lower case.
    """

    name: str = "words"
    lowercase: bool = True

    @property
    def rewrites_signs(self) -> bool:
        """Whether signs of opinion, such as emoticons, are rewritten; see :mod:`nlptx.text.signs`."""
        return self.name in ("negation", "expressive")

    @property
    def marks_negation(self) -> bool:
        """Whether negated words are marked; see :mod:`nlptx.text.negation`."""
        return self.name == "negation"

    def __call__(self, text: str) -> list[str]:
        """Return the tokens of a text.

        >>> Tokenizer("negation")("Not very good, but short :-)")
        ['not', '¬very', '¬good', ',', 'but', 'short', '🙂']
        """
        return self.mark(self.split(text))

    def split(self, text: str) -> list[str]:
        """Return the tokens of a text, without marking negated words."""
        return TOKENIZERS[self.name](text, self.lowercase)

    def mark(self, tokens: Sequence[str]) -> list[str]:
        """Mark the negated words among the tokens of a text, if this tokenizer marks them."""
        return mark_negated(tokens) if self.marks_negation else list(tokens)

    def mark_without(self, tokens: Sequence[str], removed: Collection[int]) -> list[str]:
        """Leave out the tokens at the indices ``removed``, and return the other tokens with negated words marked.

        Removed negations have no effect; apart from this, the remaining tokens are marked as in the complete text.

        >>> Tokenizer("negation").mark_without(["not", "very", "good"], {0}), mark_negated(["not", "very", "good"])
        (['very', 'good'], ['not', '¬very', '¬good'])
        """
        marked = mark_negated(tokens, removed) if self.marks_negation else tokens
        return [token for index, token in enumerate(marked) if index not in removed]
