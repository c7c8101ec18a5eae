"""Finds the position of each token in a text, so that the words of the text can be coloured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from nlptx.text.emoji import APOSTROPHES

# The search for a token ends after this number of characters, because some tokens, such as rewritten
# emoticons, do not occur in the text.
_REACH = 60
_PLAIN = str.maketrans(dict.fromkeys(APOSTROPHES, "'"))


class Span(NamedTuple):
    """A part of a text.

    ``effect`` is the effect on the prediction if the part is a word with a known effect, and None otherwise.
    """

    text: str
    effect: float | None = None


def find_spans(text: str, words: Sequence[tuple[str, float | None]]) -> list[Span]:
    """Split a text into the words with known effects and the parts between them. The concatenated spans equal the text.

    Args:
        text: the text.
        words: the tokens of the text, in order, each with its effect, or None if the effect is unknown.
    """
    spans: list[Span] = []
    end = 0
    for (word, effect), start in zip(words, token_starts(text, (word for word, _ in words)), strict=True):
        if start is None or effect is None:
            continue
        if start > end:
            spans.append(Span(text[end:start]))
        end = start + len(word)
        spans.append(Span(text[start:end], effect))
    return [*spans, Span(text[end:])] if end < len(text) else spans


def token_starts(text: str, tokens: Iterable[str]) -> Iterator[int | None]:
    """Yield the index of the first character of each token, or None for a token that does not occur in the text.

    A token that the tokenizer has rewritten, such as an emoticon, may occur later in the text. It counts as missing if
    the next token occurs before that place.

    Args:
        text: the text.
        tokens: the tokens of the text, in order, in lower case or as in the text.
    """
    lowered = _same_length_lower(text).translate(_PLAIN)
    end = 0

    def find(token: str) -> int:
        return lowered.find(token.lower(), end, end + _REACH + len(token))

    for token, following in pairwise([*tokens, None]):
        assert token is not None
        start = find(token)
        if start < 0 or (following is not None and 0 <= find(following) < start):
            yield None
        else:
            yield start
            end = start + len(token)


def _same_length_lower(text: str) -> str:
    """Return the text in lower case. If the lower case of a letter has several characters, only the first is kept."""
    return "".join(character.lower()[:1] for character in text)
