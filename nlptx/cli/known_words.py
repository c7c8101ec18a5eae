"""Notes on texts in which the model knows few or no words."""

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


class KnownWords:
    """Counts of the words in scored texts that the model knows.

    Attributes:
        unknown: number of texts without any known word.
    """

    def __init__(self) -> None:
        self.unknown = 0
        self._named: list[str] = []
        self._words = 0
        self._known = 0

    def add(self, where: str, scored: Scored) -> None:
        """Count the words of one text; ``where`` is its position in the input."""
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
        if self._known < _FEW * self._words:
            yield (
                f"note: the model knows only {self._known:,} of the {self._words:,} words in the other texts"
                f" ({self._known / self._words:.0%}): are they in the language that it was trained on?"
            )
