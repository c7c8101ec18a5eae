"""Notes on texts in which the model knows few or no words, or that are unlike its training texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlptx.classifier.scoring import Scored

# Maximum number of texts that a note lists.
_NAMED = 3
# If the fraction of known words is smaller than this, a note is printed. A large vocabulary covers 80 % or more of the
# words in texts of its own language, and 40 to 60 % of those in other Western languages (names, punctuation, short
# words).
_FEW = 0.6
# Minimum number, and minimum fraction, of texts unlike the training texts that cause a note.
_MIN_UNLIKE, _MIN_UNLIKE_SHARE = 3, 0.1


class KnownWords:
    """Counts of the words in scored texts that the model knows, and of the texts unlike its training texts.

    Attributes:
        texts: number of texts.
        unknown: number of texts without any known word.
        unlike: number of texts that are unlike the training texts, with or without a known word.
    """

    def __init__(self) -> None:
        self.texts = self.unknown = self.unlike = 0
        self._first_unlike = ""  # the first with a known word; texts without one have a note of their own
        self._named: list[str] = []
        self._words = 0
        self._known = 0

    def add(self, where: str, scored: Scored) -> None:
        """Count the words of one text; ``where`` is its position in the input."""
        self.texts += 1
        if scored.unlike:
            self.unlike += 1
            if scored.known_words and not self._first_unlike:
                self._first_unlike = where
        if not scored.known_words:
            self.unknown += 1
            if len(self._named) < _NAMED:
                self._named.append(where)
        elif not scored.truncated:  # known words after the truncation point are not counted
            self._words += scored.tokens
            self._known += scored.known_words

    def notes(self, consequence: str) -> Iterator[str]:
        """Yield notes for the user; ``consequence`` describes how texts without known words are treated."""
        if self.unknown:
            positions = ", ".join(self._named) + (", ..." if self.unknown > len(self._named) else "")
            yield f"note: no known word in {self.unknown:,} text{'s' * (self.unknown > 1)} ({positions}): {consequence}"
        if self._first_unlike and self.unlike >= _MIN_UNLIKE and self.unlike > _MIN_UNLIKE_SHARE * self.texts:
            yield (
                f"note: {self.unlike:,} of {self.texts:,} texts are unlike the texts that the model was trained on"
                f" (first: {self._first_unlike}): another language or subject?"
            )
        elif self._known < _FEW * self._words:
            yield (
                f"note: the model knows only {self._known:,} of the {self._words:,} words in the other texts"
                f" ({self._known / self._words:.0%}): are they in the language that it was trained on?"
            )
