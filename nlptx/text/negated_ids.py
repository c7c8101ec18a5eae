"""A faster version of :mod:`nlptx.text.negation` for many documents that are encoded as word ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.text.negation import MARK, NEGATIONS, NEUTRAL, WINDOW, WORD, kind_of
from nlptx.text.vocabulary import as_text
from nlptx.text.word_ids import EncodedChunk

_NEGATIONS = frozenset(word.encode() for word in NEGATIONS)
_MARK = MARK.encode()
# Kind of a token that has not been determined yet.
_UNKNOWN = 255


def mark_negated_ids(chunk: EncodedChunk) -> EncodedChunk:
    """Return the encoded documents with a mark before each negated word; see :func:`.negation.mark_negated`.

    This takes little time, because only the tokens after negations are examined.
    """
    negated = _negated_positions(chunk)
    if not len(negated):
        return chunk
    ids, counts, words = chunk.ids.copy(), chunk.counts.copy(), list(chunk.words)
    plain_ids = ids[negated]
    marked_counts = np.bincount(plain_ids, minlength=len(words))
    # A word of which all occurrences are negated keeps its id; the others get a second id for the marked word.
    marked = np.flatnonzero(marked_counts)
    partly = marked[marked_counts[marked] < counts[marked]]
    number = np.arange(len(words))
    number[partly] = np.arange(len(words), len(words) + len(partly))
    ids[negated] = number[plain_ids]
    counts[partly] -= marked_counts[partly]
    counts = np.concatenate([counts, marked_counts[partly]])
    words += [b""] * len(partly)
    for old, new in zip(marked.tolist(), number[marked].tolist(), strict=True):
        words[new] = _MARK + chunk.words[old]
    return EncodedChunk(words, ids, counts, chunk.lengths)


def _negated_positions(chunk: EncodedChunk) -> NDArray[np.int64]:
    """Return the positions of the negated words among all tokens. No position is returned twice."""
    is_negation = np.fromiter((word.lower() in _NEGATIONS for word in chunk.words), bool, len(chunk.words))
    positions = np.flatnonzero(is_negation.take(chunk.ids))
    document_ends = np.cumsum(chunk.lengths)
    ends = document_ends[np.searchsorted(document_ends, positions, side="right")]
    kinds = np.full(len(chunk.words), _UNKNOWN, np.uint8)  # of the distinct words, determined when first needed
    found = [positions[:0]]
    for _ in range(WINDOW):
        positions = positions + 1
        inside = positions < ends
        positions, ends = positions[inside], ends[inside]
        ids = chunk.ids[positions]
        for number in set(ids[kinds[ids] == _UNKNOWN].tolist()):
            kinds[number] = kind_of(as_text(chunk.words[number]))
        kind = kinds[ids]
        found.append(positions[kind == WORD])
        # Another negation begins a new group of negated words.
        goes_on = (kind == WORD) | (kind == NEUTRAL)
        positions, ends = positions[goes_on], ends[goes_on]
    return np.concatenate(found)
