"""The ids of all tokens of a batch of texts, including tokens that a model does not know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nlptx.runtime.slices import split_by_lengths
from nlptx.text.blocks import BLOCK, in_blocks
from nlptx.text.negated_ids import mark_negated_ids
from nlptx.text.scanner import Scanner
from nlptx.text.vocabulary import Vocabulary, as_text
from nlptx.text.word_ids import words_to_ids

# White space at which a text may be cut without changing its tokens: after a punctuation mark, or before a word that
# cannot continue an HTML line break, a phrase in capitals, or a rating such as "8 out of 10".
_GAP = re.compile(r"(?<!\s)\s++(?=[^\W_0-9A-Zo])|(?<=[.,;!?])\s++")


@dataclass(frozen=True)
class TokenIds:
    """The N tokens of B texts, one text after the other, and the W distinct words among the tokens.

    Args:
        words: the distinct words, in UTF-8.
        vocabulary_ids: (W,) int32 vocabulary id of each distinct word; -1 for unknown words.
        indices: (N,) int32 index in ``words`` of each token.
        lengths: (B,) int64 number of tokens in each text.
    """

    words: list[bytes]
    vocabulary_ids: NDArray[np.int32]
    indices: NDArray[np.int32]
    lengths: NDArray[np.int64]

    def ids_read(self, vocabulary: Vocabulary) -> list[NDArray[np.int32]]:
        """Return the word ids that a model reads in each text; see :meth:`.Vocabulary.ids_read`."""
        ids_read = self.vocabulary_ids.copy()
        unknown = np.flatnonzero(ids_read < 0).tolist()
        ids_read[unknown] = [vocabulary.forms.id_of_form(as_text(self.words[number])) for number in unknown]
        ids = ids_read[self.indices]
        positions = np.flatnonzero(ids >= 0)
        ends = np.searchsorted(positions, np.cumsum(self.lengths))
        return split_by_lengths(ids[positions], np.diff(ends, prepend=0))

    def differs_from_previous(self) -> NDArray[np.bool_]:
        """Return whether each token differs from the previous one in its text, (N,); True for the first in a text."""
        differs = np.diff(self.indices, prepend=-1) != 0
        differs[(np.cumsum(self.lengths) - self.lengths)[self.lengths > 0]] = True
        return differs

    def sums(self, values: NDArray, dtype: DTypeLike | None = None) -> NDArray:
        """Return the sums (B,) of values (N,) over the tokens of each text. A sum never depends on other texts."""
        result = np.zeros(len(self.lengths), dtype or values.dtype)
        full = self.lengths > 0
        if full.any():
            result[full] = np.add.reduceat(values, (np.cumsum(self.lengths) - self.lengths)[full], dtype=dtype)
        return result


def encode_texts(vocabulary: Vocabulary, texts: Sequence[str], scanner: Scanner) -> TokenIds:
    """Encode one or more texts.

    A huge text is processed in pieces, because its tokens take far more memory than the text itself.
    """
    parts = [[text] if len(text) <= BLOCK else list(pieces(text)) for text in texts]
    chunk = words_to_ids(in_blocks(part for cut in parts for part in cut), scanner)
    text = np.repeat(np.arange(len(texts)), [len(cut) for cut in parts])
    lengths = np.bincount(text, chunk.lengths, len(texts)).astype(np.int64)
    # Negated words are marked only after the parts are joined, because a negation can mark words in the next part.
    chunk = mark_negated_ids(replace(chunk, lengths=lengths), scanner.tokenizer)
    vocabulary_ids = np.fromiter(map(vocabulary.ids_of_bytes.__getitem__, chunk.words), np.int32, len(chunk.words))
    return TokenIds(chunk.words, vocabulary_ids, chunk.ids, lengths)


def pieces(text: str, size: int = BLOCK) -> Iterator[str]:
    """Cut a text into parts of about ``size`` characters, at positions that do not change its tokens."""
    start = 0
    while gap := _GAP.search(text, start + size):
        yield text[start : gap.start()]
        start = gap.start()
    yield text[start:]
