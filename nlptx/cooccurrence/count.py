"""Counting a corpus in bounded memory: number its words, count block by block, sum the blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nlptx.cooccurrence.inverted_index import build_index
from nlptx.cooccurrence.parallel_count import count_pairs
from nlptx.cooccurrence.spilled_matrix import SpilledMatrix
from nlptx.cooccurrence.stored import Counts
from nlptx.cooccurrence.window_pairs import PairCounter, unit_weights
from nlptx.errors import DataError
from nlptx.io.spill import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings
from nlptx.text.token_stream import TokenStream
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary, as_text, rank_words

# What counting a block takes for each token, and for each position of the padding between documents; doubled, so that a
# block takes half of the memory.
_BYTES_PER_TOKEN, _BYTES_PER_PADDING = 48, 8
# Tokens grouped by word at once, in one thread. More if there are many words, as every segment says where the places
# of each begin; fewer if memory is short, as grouping takes some 40 bytes a token.
_SEGMENT, _SEGMENT_PER_WORD, _SEGMENT_SHARE = 1 << 19, 10, 256
# Runs summed at once: each has two open files.
_FAN_IN = 16


def count_corpus(blocks: Iterable[bytes], settings: CountSettings, space: MemoryBudget, workers: Workers) -> Counts:
    """Count which words occur near each other, in bounded memory.

    Each word's context is the ``window`` words before and after it in its document; words outside the
    vocabulary are left out first, as GloVe and word2vec do. Counts are exact sums of integers, divided once.

    The corpus is counted in blocks that fit in memory; the counts of several blocks wait in temporary files
    and are summed at the end, some rows at a time.

    Args:
        blocks: of lines, a document each, see :mod:`nlptx.text.blocks`.
        settings: see :class:`CountSettings`.
        space: how much memory there is, and where the rest goes; the counts live until it is closed. It does not
            change them, unless more distinct words turn up than there is memory for: see :class:`TokenStream`.
        workers: threads read the corpus, and threads or processes count. They do not change the counts.

    Raises:
        DataError: no text, or no word is frequent enough.
        OutputError: temporary files cannot be written.
    """
    tokenizer = Tokenizer(settings.tokenizer, settings.lowercase)
    stream = TokenStream(space)
    stream.read(blocks, tokenizer, workers)
    vocabulary, known = _choose_words(stream, settings, tokenizer)
    details = {
        "tokens": len(stream.ids),
        "known_tokens": int(vocabulary.counts.sum()),
        "distinct_words": len(stream.numbers),
    }
    if stream.dropped:
        # How much memory there was decided what was dropped, so it belongs to the command that makes this again.
        details |= {"dropped_up_to": stream.dropped, "memory": space.memory}
    stream.numbers.clear()
    words = len(vocabulary)
    units, one = unit_weights(settings.weighting, settings.window)
    longest = max((int(part.max(initial=0)) for part in stream.lengths.parts()), default=0)
    padding = _BYTES_PER_PADDING * _reach(settings.window, longest)
    single = _BYTES_PER_TOKEN * len(stream.ids) + padding * len(stream.lengths) <= space.memory
    runs: list[SpilledMatrix] = []
    done = 0
    for lengths in _grouped(stream.lengths.parts(), space.memory, _BYTES_PER_TOKEN, padding):
        reach = _reach(settings.window, int(lengths.max()))
        tokens = min(max(_SEGMENT, _SEGMENT_PER_WORD * words), max(space.memory // _SEGMENT_SHARE, 1))
        segments = list(_grouped([lengths], tokens))
        index = build_index(stream.ids, done, segments, known, words, reach, workers)
        done += int(lengths.sum())
        run = SpilledMatrix(words, space, one if single else 1)
        for rows in count_pairs(PairCounter(index, units[:reach]), workers):
            run.append(rows)
        del index, rows  # a whole block, and the buffers that rows come in
        if not single:
            run.leave_memory(space, done / len(stream.ids))
        runs.append(run)
        if len(runs) == _FAN_IN:
            runs = [_merge(runs, space, workers)]
    stream.close()
    run = runs[0] if single else _merge(runs, space, workers, one)
    return Counts(run, vocabulary, settings, details)


def _merge(runs: list[SpilledMatrix], space: MemoryBudget, workers: Workers, one: int = 1) -> SpilledMatrix:
    from nlptx.cooccurrence.merge import merge  # with SciPy, whose import takes as long as counting a small corpus

    return merge(runs, space, workers, one)


def _choose_words(
    stream: TokenStream, settings: CountSettings, tokenizer: Tokenizer
) -> tuple[Vocabulary, NDArray[np.int32]]:
    """Return the vocabulary, and the id there of each number of the stream; -1 for words left out."""
    counts = stream.counts(settings.min_count)
    words = rank_words(counts, settings.min_count, settings.max_words)
    if not words:
        counts = stream.counts()
        if not counts:
            raise DataError("the corpus is empty: no word was found in it")
        top = max(counts, key=counts.__getitem__)
        raise DataError(
            f"no word occurs {settings.min_count} times;"
            f" the most frequent, {as_text(top)!r}, occurs {counts[top]} times",
            hint="Lower `min_count`, or give more text.",
        )
    known = np.full(len(stream.totals), -1, np.int32)
    known[[stream.numbers[word] for word in words]] = np.arange(len(words), dtype=np.int32)
    totals = np.array([counts[word] for word in words], np.int64)
    return Vocabulary([as_text(word) for word in words], totals, tokenizer), known


def _reach(window: int, longest: int) -> int:
    """Return how far pairs can be apart in documents of at most ``longest`` tokens."""
    return min(window, max(longest - 1, 1))


def _grouped(
    lengths: Iterable[NDArray[np.int64]], limit: int, per_token: int = 1, per_document: int = 0
) -> Iterator[NDArray[np.int64]]:
    """Group documents that have tokens so that the cost of a group is at most ``limit``, or it is one document."""
    group: list[NDArray[np.int64]] = []
    cost = 0
    for part in lengths:
        part = part[part > 0]
        ends = np.concatenate([[0], np.cumsum(per_token * part + per_document)])
        start = 0
        while start < len(part):
            after = int(np.searchsorted(ends, ends[start] + limit - cost, side="right")) - 1
            after = max(after, start if group else start + 1)
            group.append(part[start:after])
            cost += int(ends[after] - ends[start])
            start = after
            if start < len(part):
                yield np.concatenate(group)
                group, cost = [], 0
    if group:
        yield np.concatenate(group)
