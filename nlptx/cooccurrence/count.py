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
from nlptx.runtime.parallel import default_jobs
from nlptx.settings import CountSettings
from nlptx.text.token_stream import TokenStream
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary, as_text, rank_words

# What a token takes while its block is counted, as a share of the memory: half of it.
_BYTES_PER_TOKEN = 48
# Tokens grouped by word at once, in one thread. More if there are many words, as every segment says where the places
# of each begin; fewer if memory is short, as grouping takes some 40 bytes a token.
_SEGMENT, _SEGMENT_PER_WORD, _SEGMENT_SHARE = 1 << 19, 10, 256
# Runs summed at once: each has two open files.
_FAN_IN = 16


def count_corpus(
    blocks: Iterable[bytes],
    settings: CountSettings,
    space: MemoryBudget,
    jobs: int | None = None,
    *,
    processes: bool = False,
) -> Counts:
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
        jobs: workers; all cores by default. They do not change the counts.
        processes: whether the workers that count are processes, see :func:`nlptx.runtime.executor.workers`, or threads;
            those that read are threads.

    Raises:
        DataError: no text, or no word is frequent enough.
        OutputError: temporary files cannot be written.
    """
    jobs = jobs or default_jobs()
    tokenizer = Tokenizer(settings.tokenizer, settings.lowercase)
    stream = TokenStream(space)
    stream.read(blocks, tokenizer, jobs)
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
    most = max(1, space.memory // _BYTES_PER_TOKEN)
    single = len(stream.ids) <= most
    runs: list[SpilledMatrix] = []
    done = 0
    for lengths in _grouped(stream.lengths.parts(), most):
        reach = min(settings.window, max(int(lengths.max()) - 1, 1))  # no document has pairs farther apart
        share = min(max(_SEGMENT, _SEGMENT_PER_WORD * words), max(space.memory // _SEGMENT_SHARE, 1))
        segments = list(_grouped([lengths], share))
        placed = build_index(stream.ids, done, segments, known, words, reach, jobs)
        done += int(lengths.sum())
        run = SpilledMatrix(words, space, one if single else 1)
        for rows in count_pairs(PairCounter(placed, units[:reach]), jobs, processes=processes):
            run.append(rows)
        del placed, rows  # a whole block, and the memory that rows come in
        if not single:
            run.leave_memory(space, done / len(stream.ids))
        runs.append(run)
        if len(runs) == _FAN_IN:
            runs = [_merge(runs, space, jobs)]
    stream.close()
    run = runs[0] if single else _merge(runs, space, jobs, one)
    return Counts(run, vocabulary, settings, details)


def _merge(runs: list[SpilledMatrix], space: MemoryBudget, jobs: int, one: int = 1) -> SpilledMatrix:
    from nlptx.cooccurrence.merge import merge  # with SciPy, whose import takes as long as counting a small corpus

    return merge(runs, space, jobs, one)


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
            hint="Lower --min-count, or give more text.",
        )
    known = np.full(len(stream.totals), -1, np.int32)
    known[[stream.numbers[word] for word in words]] = np.arange(len(words), dtype=np.int32)
    totals = np.array([counts[word] for word in words], np.int64)
    return Vocabulary([as_text(word) for word in words], totals, tokenizer), known


def _grouped(lengths: Iterable[NDArray[np.int64]], most: int) -> Iterator[NDArray[np.int64]]:
    """Group documents that have tokens so that each group has at most ``most`` of them, or is one document."""
    group: list[NDArray[np.int64]] = []
    tokens = 0
    for part in lengths:
        part = part[part > 0]
        ends = np.concatenate([[0], np.cumsum(part)])
        start = 0
        while start < len(part):
            after = int(np.searchsorted(ends, ends[start] + most - tokens, side="right")) - 1
            after = max(after, start if group else start + 1)
            group.append(part[start:after])
            tokens += int(ends[after] - ends[start])
            start = after
            if start < len(part):
                yield np.concatenate(group)
                group, tokens = [], 0
    if group:
        yield np.concatenate(group)
