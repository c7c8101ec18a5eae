"""Count the texts of which a model knows few words or none, and say so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlptx.classifier.scoring import Scored

# Maximum number of texts that are named.
_NAMED = 3
# A large vocabulary knows 40 to 60 % of the words of another Western language (names, punctuation, short words), and
# 80 % or more of its own.
_FEW = 0.6


class KnownWords:
    """How much of the scored texts a model knows.

    Attributes:
        unknown: number of texts without a known word.
    """

    def __init__(self) -> None:
        self.unknown = 0
        self._named: list[str] = []
        self._words = 0
        self._known = 0

    def add(self, where: str, scored: Scored) -> None:
        """Count one text; ``where`` names it."""
        if not scored.known_words:
            self.unknown += 1
            if len(self._named) < _NAMED:
                self._named.append(where)
        elif not scored.truncated:  # the known words after the cut are not counted
            self._words += scored.tokens
            self._known += scored.known_words

    def notes(self, consequence: str) -> Iterator[str]:
        """Yield what is worth knowing; ``consequence`` says what becomes of texts without a known word."""
        if self.unknown:
            places = ", ".join(self._named) + (", ..." if self.unknown > len(self._named) else "")
            yield f"note: no known word in {self.unknown:,} text{'s' * (self.unknown > 1)} ({places}): {consequence}"
        if self._known < _FEW * self._words:
            yield (
                f"note: the model knows only {self._known:,} of the {self._words:,} words in the other texts"
                f" ({self._known / self._words:.0%}): are they in the language that it was trained on?"
            )
