"""Makes the matrix of words and their character n-grams, without a Python object per n-gram."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from nlptx.text.character_ngrams import LENGTHS
from nlptx.text.negation import is_marked, without_mark

# Number of bits of a character: every Unicode code point is smaller than 2^21.
_CHARACTER_BITS = np.uint64(21)


def spelling_matrix(words: Sequence[str]) -> sp.csr_matrix:
    """Return a matrix that is 1 where a word contains a character n-gram, and 0 elsewhere.

    The n-grams are those of :func:`nlptx.text.character_ngrams.character_ngrams`. If a word is marked as negated, its
    n-grams are marked too, so that they differ from those of other words.

    Args:
        words: the V words.

    Returns:
        (V, G) float32 matrix, with one column for each distinct n-gram of the words.
    """
    spellings = [f"<{without_mark(word)}>" for word in words]
    lengths = np.array([len(each) for each in spellings], np.int64)
    word_ids = np.repeat(np.arange(len(words)), lengths)
    # Number of characters from each position to the end of the word.
    remaining = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(word_ids))
    characters = np.frombuffer("".join(spellings).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    negated = np.array([is_marked(each) for each in words], np.uint64)
    # numbers[i] identifies the n-gram of the current length that starts at position i. At first, the length is 1, and
    # the number is the character, with an additional bit if the word is negated. If the rest of the word is
    # shorter than the current length, the position keeps an old number, which is not used again.
    numbers = characters | negated[word_ids] << _CHARACTER_BITS
    rows, columns, total = [], [], 0
    for length in range(2, max(LENGTHS) + 1):
        starts = np.flatnonzero(remaining >= length)
        # An n-gram is determined by the n-gram without its last character, and this character.
        keys = numbers[starts] << _CHARACTER_BITS | characters[starts + length - 1]
        distinct, numbers[starts] = np.unique(keys, return_inverse=True)
        if length in LENGTHS:
            rows.append(word_ids[starts])
            columns.append(numbers[starts].astype(np.int64) + total)
            total += len(distinct)
    entries = np.concatenate(rows), np.concatenate(columns)
    matrix = sp.csr_matrix((np.ones(len(entries[0]), np.float32), entries), (len(words), total))
    matrix.data[:] = 1  # an n-gram can occur several times in a word
    return matrix
