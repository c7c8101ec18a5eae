"""Measures how unusual the spelling of a word is, compared with the words that a model knows.

Words are sequences of bytes in UTF-8. Let p be the probability of a byte given the preceding byte, estimated from the
known words (each counted once), and q the same probability if all bytes are equally probable. The mean of log q/p over
all pairs of neighbouring bytes in the known words is a negative number c, because every language prefers some pairs of
letters. The surprise of a word is

    1/2 sum over its bytes and the separator after it of (log q - log p - c)

The constant c makes the mean surprise of the known words 0. The factor 1/2 corrects for the dependence between
neighbouring pairs of letters, which the sum ignores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Byte that is inserted before and after each word.
_SEPARATOR = ord("\n")
# Number added to the count of every pair of bytes.
_PSEUDO_COUNT = 0.5
# The factor 1/2 in the formula above.
_DEPENDENCE = 0.5
# The surprise of a word, in nats, is limited to this absolute value, so that a single strange token does not determine
# the surprise of a text.
_MAX_SURPRISE = 8.0


class ByteBigramModel:
    """A bigram model of the bytes of known words; its surprise says how unusual the spelling of another word is.

    Args:
        words: known words.
    """

    def __init__(self, words: Sequence[str]) -> None:
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        counts = np.bincount(_pairs(encoded), minlength=1 << 16).reshape(256, 256)
        smoothed = counts + _PSEUDO_COUNT
        surprise = np.log(smoothed.sum(axis=1, keepdims=True) / smoothed)
        self._surprise = _DEPENDENCE * (surprise - (counts * surprise).sum() / max(counts.sum(), 1)).ravel()

    def surprise(self, words: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the surprise, in nats, of one or more words in UTF-8."""
        pairs = _pairs(words)
        starts = np.flatnonzero(pairs >> 8 == _SEPARATOR)
        return np.clip(np.add.reduceat(self._surprise[pairs], starts), -_MAX_SURPRISE, _MAX_SURPRISE)


def _pairs(words: Sequence[bytes]) -> NDArray[np.int32]:
    """Return the pairs of neighbouring bytes in the given words, encoded as 256 * first byte + second byte."""
    codes = np.frombuffer(b"\n".join([b"", *words, b""]), np.uint8).astype(np.int32)
    return codes[:-1] << 8 | codes[1:]
