"""Notes on texts that are unlike the training texts of the model, or in which the model knows few or no words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nlptx.classifier.scoring import Scored

# Maximum number of texts that a note lists.
_NAMED = 3
# If the texts with a known word have a smaller fraction of known words than this, a note is printed, unless there is a
# note about unusual texts. A large vocabulary covers at least 80% of the words in texts of the same language. In texts
# of another Western language, it covers 40 to 60% of the words: mainly names, punctuation and short words that the two
# languages share.
_MIN_KNOWN_SHARE = 0.6
# A note is printed if at least _MIN_UNUSUAL texts are unlike the training texts, their fraction of all texts exceeds
# _MIN_UNUSUAL_SHARE, and one of them has a known word.
_MIN_UNUSUAL, _MIN_UNUSUAL_SHARE = 3, 0.1


class KnownWords:
    """Counts of the known words in scored texts, and of the texts that are unlike the training texts.

    Attributes:
        texts: number of texts.
        unknown: number of texts without any known word.
        unusual: number of texts that are unlike the training texts, with or without a known word.
    """

    def __init__(self) -> None:
        self.texts = self.unknown = self.unusual = 0
        self._first_unusual = ""  # position of the first text that is unlike the training texts and has a known word
        self._named: list[str] = []
        self._words = 0
        self._known = 0

    def add(self, where: str, scored: Scored) -> None:
        """Count the words of one text; ``where`` is its position in the input."""
        self.texts += 1
        if scored.unusual:
            self.unusual += 1
            if scored.known_words and not self._first_unusual:
                self._first_unusual = where
        if not scored.known_words:
            self.unknown += 1
            if len(self._named) < _NAMED:
                self._named.append(where)
        elif not scored.truncated:  # for a truncated text, known_words counts only the beginning, but tokens the whole
            self._words += scored.tokens
            self._known += scored.known_words

    def extend(self, other: KnownWords, where: Callable[[str], str]) -> None:
        """Add the counts of the next partition.

        ``where`` converts a position in the partition to a position in the input.
        """
        self._first_unusual = self._first_unusual or (where(other._first_unusual) if other._first_unusual else "")
        self._named += [where(name) for name in other._named[: _NAMED - len(self._named)]]
        for name in ("texts", "unknown", "unusual", "_words", "_known"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def notes(self, consequence: str) -> Iterator[str]:
        """Yield notes for the user; ``consequence`` describes how texts without known words are treated."""
        if self.unknown:
            positions = ", ".join(self._named) + (", ..." if self.unknown > len(self._named) else "")
            yield f"no known word in {self.unknown:,} text{'s' * (self.unknown > 1)} ({positions}): {consequence}"
        if self._first_unusual and self.unusual >= _MIN_UNUSUAL and self.unusual > _MIN_UNUSUAL_SHARE * self.texts:
            yield (
                f"{self.unusual:,} of {self.texts:,} texts are unlike the texts that the model was trained on"
                f" (first: {self._first_unusual}): another language or subject?"
            )
        elif self._known < _MIN_KNOWN_SHARE * self._words:
            yield (
                f"in texts with at least one known word, the model knows only"
                f" {self._known:,} of {self._words:,} words"
                f" ({self._known / self._words:.0%}): are the texts in the language of the model?"
            )
