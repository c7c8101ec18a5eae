"""A faster version of :mod:`nlptx.text.negation` for many documents that are encoded as word ids."""

from __future__ import annotations

from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from nlptx.text.negation import (
    DEGREE,
    END,
    JOIN,
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
# Second word of a pair such as "far from" -> its number, from 1.
_SECOND_WORDS = {word.encode(): number for number, word in enumerate(sorted(set(SECOND_WORDS.values())), 1)}
# First word of a negation -> number of the second word, or _SINGLE if the first word alone is a negation.
_SINGLE = -1
_FIRST_WORDS = {first.encode(): _SECOND_WORDS[second.encode()] for first, second in SECOND_WORDS.items()}
_FIRST_WORDS |= dict.fromkeys((word.encode() for word in NEGATIONS), _SINGLE)


def marked(chunk: EncodedChunk, tokenizer: Tokenizer) -> EncodedChunk:
    """Return encoded documents with a mark before each negated word, if the tokenizer marks negated words.

    The words are those that :func:`.negation.mark_negated` marks. Marking takes little time, because only the tokens
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
    # If all occurrences of a word are negated, the marked word keeps the id; otherwise the marked word gets a second
    # id.
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
    """Return the positions of the negated words among all tokens. No position is returned twice."""
    document_ends = np.cumsum(chunk.lengths)
    negations, seconds = _negations(chunk, document_ends)
    ends = document_ends[np.searchsorted(document_ends, negations, side="right")]
    following = negations + np.arange(1, WINDOW + 1)[:, None]  # (WINDOW, N)
    kinds = _kinds(chunk.words, chunk.ids.take(following, mode="clip"))
    kinds[np.isin(following, seconds, kind="table")] = NEGATION
    is_negated = np.empty(following.shape, bool)
    # The state of :func:`.negation.mark_negated`, for all negations at once; `goes_on` corresponds to `remaining`.
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


def _negations(chunk: EncodedChunk, document_ends: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of all negations (N,), and the positions of the negations that are second words of pairs."""
    lowered = list(map(bytes.lower, chunk.words))
    expected, actual = (
        np.fromiter(map(numbers.get, lowered, repeat(0)), np.int8, len(lowered))
        for numbers in (_FIRST_WORDS, _SECOND_WORDS)
    )
    expected = expected.take(chunk.ids)
    firsts = np.flatnonzero(expected)
    expected = expected[firsts]
    is_pair = expected == actual[chunk.ids.take(firsts + 1, mode="clip")]
    is_pair &= ~np.isin(firsts + 1, document_ends, kind="table")  # the next word may be in another document
    positions = firsts + is_pair
    return positions[is_pair | (expected == _SINGLE)], positions[is_pair]


def _kinds(words: list[bytes], ids: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Return the kind of each token, in an array with the shape of ``ids``; see :func:`.negation.kind_of`."""
    occurs = np.zeros(len(words), bool)
    occurs[ids] = True
    kinds = np.empty(len(words), np.uint8)
    kinds[occurs] = [kind_of(as_text(words[number])) for number in np.flatnonzero(occurs).tolist()]
    return kinds[ids]
