"""The words that a model reads if some words of a text are left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.text.negation import words_of_negations
from nlptx.text.vocabulary import Vocabulary


class RemainingWords:
    """A text from which words can be left out.

    A tokenizer may mark the words that follow a negation. If the negation is left out, the marks that it caused are
    removed, and all other marks stay.

    Args:
        vocabulary: known words.
        tokens: all tokens of the text, without marks.

    Attributes:
        positions: index of each word that the model reads among the tokens.
        ids: (T,) int32 ids of these words.
        negations: indices into ``ids`` of the words that belong to negations; empty if the tokenizer does not mark
            negated words.
    """

    def __init__(self, vocabulary: Vocabulary, tokens: Sequence[str]) -> None:
        self._vocabulary, self._tokens = vocabulary, tokens
        marked = vocabulary.tokenizer.mark(tokens)
        ids = vocabulary.ids_read(marked)
        self.positions = np.flatnonzero(ids >= 0).tolist()
        self.ids = ids[self.positions]
        negations = words_of_negations(tokens) if vocabulary.tokenizer.marks_negation else set()
        self.negations = frozenset(word for word, position in enumerate(self.positions) if position in negations)

    def without(self, words: Collection[int]) -> NDArray[np.int32]:
        """Return the word ids that the model reads if the words at the given indices into ``ids`` are left out."""
        if self.negations.isdisjoint(words):
            return np.delete(self.ids, list(words))
        removed = {self.positions[word] for word in words}
        ids = self._vocabulary.ids_read(self._vocabulary.tokenizer.mark_without(self._tokens, removed))
        return ids[ids >= 0]
