"""Measures how rare a word is in the training texts.

The surprise of a word w is a log-likelihood ratio:

    s(w) = log q(w) - log p(w)

p is the distribution of the words in the training texts. An unknown word is treated as half as frequent as the rarest
known word. q is a background distribution for any language. Under q, half of the probability is spread evenly over all
symbols (tokens of punctuation marks, such as brackets), and the other half evenly over all words. Symbols are frequent
in every language, so without q a line of program code would seem familiar because of its symbols. Only differences of s
matter, so terms that are the same for all words are left out: s(w) = -log count(w), plus log(W / S) if w is a symbol,
where W and S are the numbers of distinct words and symbols that were counted. For an unknown symbol, log(W / S) is not
added. For an unknown word without digits that is not a symbol, s also depends on the spelling of the word; see
:mod:`nlptx.classifier.byte_bigrams`. The spelling of words with digits, such as "wrt54g", is unusual in every language,
so it is not examined. If the tokenizer marks negated words, a marked word that is unknown is as surprising as the same
word without the mark.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.byte_bigrams import ByteBigramModel
from nlptx.classifier.token_ids import TokenIds
from nlptx.text.negation import is_marked, without_mark
from nlptx.text.vocabulary import Vocabulary, as_text

# Number of words whose spelling is examined together, to limit memory.
_WORDS = 1 << 14


class WordSurprise:
    """Computes the surprise s of known and unknown words.

    Args:
        vocabulary: known words and their counts. Words that come only from a lexicon have no count, and are as
            surprising as an unknown word.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        counts, words = vocabulary.counts, vocabulary.words
        self.counts = counts
        self.rarest = int(counts[counts > 0].min())
        self.known = -np.log(np.where(counts > 0, counts, self.rarest / 2))
        mixed = [number for number, plain in enumerate(map(str.isalnum, words)) if not plain]
        symbols = [number for number in mixed if _is_symbol(words[number])]
        counted, counted_symbols = np.count_nonzero(counts), np.count_nonzero(counts[symbols])
        if 0 < counted_symbols < counted:
            self.known[symbols] += math.log((counted - counted_symbols) / counted_symbols)
        self._vocabulary = vocabulary

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Self | None:
        """Return an instance for a vocabulary, or None if the vocabulary has no counts."""
        return cls(vocabulary) if len(vocabulary) and vocabulary.counts.max() > 0 else None

    @cached_property
    def _spelling(self) -> ByteBigramModel:
        # Computed on first use, because this takes a few milliseconds and many inputs do not need it.
        return ByteBigramModel([word for word in self._vocabulary.words if not self._is_negated(word)])

    def _is_negated(self, word: str) -> bool:
        return self._vocabulary.tokenizer.marks_negation and is_marked(word)

    def unknown(self, words: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the surprise s of unknown words in UTF-8, (words,), in nats."""
        surprise = np.full(len(words), -math.log(self.rarest / 2))
        spelled = []  # index and spelling of each word whose spelling is examined
        for number, word in enumerate(map(as_text, words)):
            if self._is_negated(word):
                word = without_mark(word)
                if word in self._vocabulary.index:
                    surprise[number] = self.known[self._vocabulary.index[word]]
                    continue
            if not _is_symbol(word) and not any(map(str.isdecimal, word)):
                spelled.append((number, word.encode("utf-8", "surrogatepass")))
        for start in range(0, len(spelled), _WORDS):
            numbers, spellings = zip(*spelled[start : start + _WORDS], strict=True)
            surprise[list(numbers)] += self._spelling.surprise(spellings)
        return surprise

    def of_tokens(self, tokens: TokenIds) -> NDArray[np.float64]:
        """Return the surprise s of each distinct word in ``tokens``, (W,), in nats."""
        surprise = self.known[tokens.vocabulary_ids]
        new = np.flatnonzero(tokens.vocabulary_ids < 0)
        surprise[new] = self.unknown([tokens.words[number] for number in new])
        return surprise


def _is_symbol(word: str) -> bool:
    """Return whether a token consists of punctuation, or of mathematical or currency signs. Emoji count as words."""
    return not any(char.isalnum() or unicodedata.category(char) == "So" for char in word)
