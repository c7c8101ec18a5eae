"""A faster version of :mod:`nlptx.text.negation` for many documents that are encoded as word ids."""

from __future__ import annotations

from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from nlptx.text.negation import (
    DEGREE,
    END,
    JOIN,
    KINDS,
    MARK,
    NEGATION,
    NEGATIONS,
    NEUTRAL,
    SECOND_WORDS,
    WINDOW,
    WORD,
    kind_of,
)
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import as_text
from nlptx.text.word_ids import EncodedChunk

_MARK = MARK.encode()
# The words and signs to which special rules apply, and the index of each. Index 0 stands for all other words.
_SPECIAL = ["", *sorted(KINDS.keys() | SECOND_WORDS.keys() | set(SECOND_WORDS.values()))]
_INDEX = {word.encode(): index for index, word in enumerate(_SPECIAL) if index}
# For each special word: _SINGLE if the word alone is a negation; the index of the second word if the special word
# begins a pair such as "far from"; otherwise 0.
_SINGLE = -1
_SECOND = np.array(
    [_SINGLE if word in NEGATIONS else _INDEX.get(SECOND_WORDS.get(word, "").encode(), 0) for word in _SPECIAL],
    np.int16,
)
_KINDS = np.array([KINDS.get(word, WORD) for word in _SPECIAL], np.uint8)


def mark_negated_ids(chunk: EncodedChunk, tokenizer: Tokenizer) -> EncodedChunk:
    """Return the documents, with a mark before each negated word if the tokenizer marks negated words.

    The same words are marked as in :func:`.negation.mark_negated`. Marking takes little time, because only the tokens
    after negations are examined.
    """
    if not tokenizer.marks_negation:
        return chunk
    negated = _negated_positions(chunk)
    if not len(negated):
        return chunk
    ids, counts, words = chunk.ids.copy(), chunk.counts.copy(), list(chunk.words)
    plain_ids = ids[negated]
    marked_counts = np.bincount(plain_ids, minlength=len(words))
    # If all occurrences of a word are negated, the marked word takes over the id of the plain word; otherwise, the
    # marked word gets a new id.
    plain = np.flatnonzero(marked_counts)
    partly = plain[marked_counts[plain] < counts[plain]]
    marked_id = np.arange(len(words))
    marked_id[partly] = np.arange(len(words), len(words) + len(partly))
    ids[negated] = marked_id[plain_ids]
    counts[partly] -= marked_counts[partly]
    counts = np.concatenate([counts, marked_counts[partly]])
    words += [b""] * len(partly)
    for old, new in zip(plain.tolist(), marked_id[plain].tolist(), strict=True):
        words[new] = _MARK + chunk.words[old]
    return EncodedChunk(words, ids, counts, chunk.lengths)


def _negated_positions(chunk: EncodedChunk) -> NDArray[np.int64]:
    """Return the position of each negated word in the array of all tokens. No position is returned twice."""
    document_ends = np.cumsum(chunk.lengths)
    special = np.fromiter(map(_INDEX.get, map(bytes.lower, chunk.words), repeat(0)), np.uint8, len(chunk.words))
    negations, seconds = _negations(special, chunk.ids, document_ends)
    ends = document_ends[np.searchsorted(document_ends, negations, side="right")]
    following = negations + np.arange(1, WINDOW + 1)[:, None]  # (WINDOW, N)
    kinds = _kinds(special, chunk.words, chunk.ids.take(following, mode="clip"))
    kinds[np.isin(following, seconds, kind="table")] = NEGATION
    is_negated = np.empty(following.shape, bool)
    # The variables of :func:`.negation.mark_negated`, one entry per negation; `goes_on` corresponds to `remaining`.
    goes_on, seen_marked, seen_join = np.repeat([[True], [False], [False]], len(negations), axis=1)
    cancelled = np.zeros(len(negations) + 1, bool)
    for positions, kind, negated in zip(following, kinds, is_negated, strict=True):
        goes_on &= positions < ends
        kind[(kind == DEGREE) & seen_marked] = END
        kind[kind == DEGREE] = WORD
        negated[:] = goes_on & (kind <= JOIN)
        seen_marked |= negated
        cancelled[1:] |= goes_on & (kind == NEGATION) & ~seen_join
        seen_join |= goes_on & (kind == JOIN)
        goes_on &= kind <= NEUTRAL
    for number in np.flatnonzero(cancelled).tolist():
        cancelled[number] = not cancelled[number - 1]  # a cancelled negation cancels no other
    return following[is_negated & ~cancelled[:-1]]


def _negations(
    special: NDArray[np.uint8], ids: NDArray[np.int32], document_ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of all negations (N,), and the positions of the negations that are second words of pairs."""
    seconds = _SECOND[special]
    firsts = np.flatnonzero((seconds != 0)[ids])
    expected = seconds[ids[firsts]]
    is_pair = expected == special[ids.take(firsts + 1, mode="clip")]
    is_pair &= ~np.isin(firsts + 1, document_ends, kind="table")  # the next word may be in another document
    positions = firsts + is_pair
    return positions[is_pair | (expected == _SINGLE)], positions[is_pair]


def _kinds(special: NDArray[np.uint8], words: list[bytes], ids: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return the kind of each token, in an array with the shape of ``ids``; see :func:`.negation.kind_of`.

    Args:
        special: (V,) index in _SPECIAL of each word of the chunk.
        words: the V words of the chunk.
        ids: word ids.
    """
    kinds = _KINDS[special]  # WORD for words outside _SPECIAL; those not made of ASCII letters are corrected below
    occurs = np.zeros(len(words), bool)
    occurs[ids] = True
    unsure = occurs & (special == 0)
    unsure &= ~np.fromiter(map(bytes.isalpha, words), bool, len(words))
    kinds[unsure] = [kind_of(as_text(words[number])) for number in np.flatnonzero(unsure).tolist()]
    return kinds[ids]
