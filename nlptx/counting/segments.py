"""Documents as positions grouped by the word that stands there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.ordering import order_of


class Segment:
    """Some documents of a text, their positions grouped by the word that stands there.

    Before, between and after the documents stand ``reach`` places that hold no word, so that no window reaches across.

    Args:
        text: int32, what the documents are written to, with :func:`room` for them from ``start`` on.
        start: where in the text they begin.
        ids: (N,) int32, word at each position; N below 2^31.
        lengths: (documents,) int64, positions of each document, at least 1.
        words: V, the number of words.
        reach: positions to each side that count as near.
    """

    def __init__(
        self,
        text: NDArray[np.int32],
        start: int,
        ids: NDArray[np.int32],
        lengths: NDArray[np.int64],
        words: int,
        reach: int,
    ) -> None:
        own = text[start : start + room(len(ids), len(lengths), reach)]
        own[...] = words
        # Where in it the window around each position begins.
        places = np.arange(len(ids), dtype=np.int32)
        places += np.repeat(np.arange(0, reach * len(lengths), reach, dtype=np.int32), lengths)
        own[places + np.int32(reach)] = ids
        self.places = places[order_of(ids)]
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=words))])
        self.start = start

    def of(self, first: int, after: int) -> NDArray[np.int64]:
        """Return where in the text the windows around words ``first`` to ``after`` begin, word by word."""
        return self.places[self.starts[first] : self.starts[after]].astype(np.int64) + self.start


def room(tokens: int, documents: int, reach: int) -> int:
    """Return how many places documents take in a text."""
    return tokens + reach * (documents + 1)
