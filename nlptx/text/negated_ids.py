"""A faster version of :mod:`nlptx.text.negation` for many documents that are encoded as word ids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.text.negation import DEGREE, END, JOIN, MARK, NEGATION, NEGATIONS, NEUTRAL, WINDOW, WORD, kind_of
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import as_text
from nlptx.text.word_ids import EncodedChunk

_NEGATIONS = frozenset(word.encode() for word in NEGATIONS)
_MARK = MARK.encode()
# Kind of a token that has not been determined yet.
_UNKNOWN = 255


def marked(chunk: EncodedChunk, tokenizer: Tokenizer) -> EncodedChunk:
    """Return encoded documents with a mark before each negated word, if the tokenizer marks negated words.

    The words are those that :func:`.negation.mark_negated` marks. This takes little time, because only the tokens after
    negations are examined.
    """
    if not tokenizer.marks_negation:
        return chunk
    negated = _negated_positions(chunk)
    if not len(negated):
        return chunk
    ids, counts, words = chunk.ids.copy(), chunk.counts.copy(), list(chunk.words)
    plain_ids = ids[negated]
    marked_counts = np.bincount(plain_ids, minlength=len(words))
    # A word of which all occurrences are negated keeps its id; any other word gets a second id, for the marked word.
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
    is_negation = np.fromiter((word.lower() in _NEGATIONS for word in chunk.words), bool, len(chunk.words))
    positions = np.flatnonzero(is_negation.take(chunk.ids))
    document_ends = np.cumsum(chunk.lengths)
    ends = document_ends[np.searchsorted(document_ends, positions, side="right")]
    numbers = np.arange(len(positions))  # each negation has a number, and is followed until it ends
    begun, joined = np.zeros((2, len(positions)), bool)  # as in :func:`.negation.mark_negated`
    cancelled = np.zeros(len(positions) + 1, bool)
    kinds = np.full(len(chunk.words), _UNKNOWN, np.uint8)  # of the distinct words, determined when first needed
    found, found_numbers = [positions[:0]], [numbers[:0]]
    for _ in range(WINDOW):
        positions = positions + 1
        inside = positions < ends
        positions, ends, numbers = positions[inside], ends[inside], numbers[inside]
        ids = chunk.ids[positions]
        for word in set(ids[kinds[ids] == _UNKNOWN].tolist()):
            kinds[word] = kind_of(as_text(chunk.words[word]))
        kind = kinds[ids]
        kind[kind == DEGREE] = np.where(begun[numbers[kind == DEGREE]], END, WORD)
        begun[numbers[kind <= JOIN]] = True
        found.append(positions[kind <= JOIN])
        found_numbers.append(numbers[kind <= JOIN])
        cancelled[numbers[(kind == NEGATION) & ~joined[numbers]] + 1] = True
        joined[numbers[kind == JOIN]] = True
        goes_on = kind <= NEUTRAL
        positions, ends, numbers = positions[goes_on], ends[goes_on], numbers[goes_on]
    for number in np.flatnonzero(cancelled).tolist():
        cancelled[number] = not cancelled[number - 1]  # a cancelled negation cancels no other
    return np.concatenate(found)[~cancelled[np.concatenate(found_numbers)]]
