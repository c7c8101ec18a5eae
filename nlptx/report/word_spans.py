"""Finds the position of each token in a text, so that the words of the text can be coloured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# The search for a token ends after this number of characters, because some tokens do not occur in the text. For
# example, the tokenizer rewrites emoticons.
_REACH = 60


class Span(NamedTuple):
    """A part of a text. If the part is a word, ``worth`` is its effect on the prediction, or None if it is unknown."""

    text: str
    worth: float | None = None


def find_spans(text: str, words: Iterable[tuple[str, float | None]]) -> list[Span]:
    """Split a text into the given words and the characters between them. The concatenated spans equal the text.

    Args:
        text: the text.
        words: the tokens of the text, in order, each with its effect, or None if the effect is unknown.
    """
    lowered = same_length_lower(text)
    spans: list[Span] = []
    end = searched = 0
    for word, worth in words:
        start = lowered.find(word.lower(), searched, searched + _REACH + len(word))
        if start < 0:
            continue
        searched = start + len(word)
        if worth is None:
            continue
        if start > end:
            spans.append(Span(text[end:start]))
        end = searched
        spans.append(Span(text[start:end], worth))
    return [*spans, Span(text[end:])] if end < len(text) else spans


def same_length_lower(text: str) -> str:
    """Return the text in lower case. If the lower case of a letter has several characters, only the first is kept."""
    return "".join(character.lower()[:1] for character in text)
