"""Finds the tokens of a text in the text itself, so that the words can be coloured where they stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

# A token is searched for only within this number of characters after the previous one. The tokenizer rewrites some
# signs, such as emoticons, so that their tokens do not occur in the text.
_REACH = 60


class Span(NamedTuple):
    """A part of a text. ``worth`` is None unless the part is a word whose effect on the prediction is known."""

    text: str
    worth: float | None = None


def find_spans(text: str, words: Iterable[tuple[str, float | None]]) -> list[Span]:
    """Split a text into the given words and what stands between them. The spans together are the text.

    Args:
        text: the text.
        words: the tokens of the text, in order, each with its worth, or None if it is unknown.
    """
    lowered = "".join(lower if len(lower := character.lower()) == 1 else character for character in text)
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
