"""Counts co-occurrences in bounded memory: words are encoded as ids, and the counts of blocks of text are summed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nlptx.cooccurrence.counts_artifact import Counts
from nlptx.cooccurrence.inverted_index import build_index
from nlptx.cooccurrence.parallel_count import count_pairs
from nlptx.cooccurrence.spilled_matrix import SpilledMatrix
from nlptx.cooccurrence.window_pairs import PairCounter, unit_weights
from nlptx.errors import DataError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings
from nlptx.text.token_stream import TokenStream
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary, as_text, rank_words

# Assumed memory for counting a block, in bytes per token and per padding position between documents. These numbers are
# twice the measured ones, so that a block uses only half of the memory limit.
_BYTES_PER_TOKEN, _BYTES_PER_PADDING = 48, 8
# A block is divided into segments. In each segment, a single thread groups the positions of the tokens by word. A
# segment has about _SEGMENT tokens, or more if the vocabulary is large: at least _SEGMENT_PER_WORD tokens per
# vocabulary word, because each segment stores one start index per word. However, the number of tokens in a segment is
# at most the memory limit divided by _MEMORY_PER_TOKEN. Grouping takes about 40 bytes per token, and several threads
# may group segments at the same time.
_SEGMENT, _SEGMENT_PER_WORD, _MEMORY_PER_TOKEN = 1 << 19, 10, 256
# Maximum number of partial matrices that are summed in one pass. Each matrix needs two open files, and the number of
# open files is limited.
_FAN_IN = 16


def count_corpus(
    blocks: Iterable[bytes],
    settings: CountSettings,
    budget: MemoryBudget,
    workers: Workers,
    word_memory: int | None = None,
) -> Counts:
    """Count which words occur near each other, in bounded memory.

    The context of a word is the ``window`` words before it and the ``window`` words after it in its document. Words
    outside the vocabulary are removed first, as in GloVe and word2vec. The count of a pair of words is a sum of
    weights, which may depend on distance. Weights are summed exactly, as integer multiples of a small unit, and the
    sums are converted from units to counts only at the end.

    The corpus is counted in blocks that fit in memory. If there are several blocks, the counts of each block go to
    temporary files. At the end, the counts of the blocks are added up, a few rows at a time.

    Args:
        blocks: blocks of lines, with one document per line; see :mod:`nlptx.text.blocks`.
        settings: settings for counting.
        budget: memory limit and folder for temporary files. The counts are valid until ``budget`` is closed. The memory
            limit does not change the counts, unless there are more distinct words than fit in memory; see
            :class:`TokenStream`.
        workers: threads that read the corpus, and threads or processes that count. The number of workers does not
            change the counts.
        word_memory: maximum number of bytes for the distinct words; by default half of the memory limit.

    Raises:
        DataError: the corpus is empty, or no word occurs ``min_count`` times.
        OutputError: the temporary files cannot be written.
    """
    stream = read_stream(blocks, settings, budget, workers, word_memory)
    return count_stream(stream, settings, budget, workers)


def read_stream(
    blocks: Iterable[bytes],
    settings: CountSettings,
    budget: MemoryBudget,
    workers: Workers,
    word_memory: int | None = None,
) -> TokenStream:
    """Tokenize a corpus. For the arguments, see :func:`count_corpus`."""
    stream = TokenStream(budget, word_memory)
    stream.read(blocks, Tokenizer(settings.tokenizer, settings.lowercase), workers)
    return stream


def count_stream(stream: TokenStream, settings: CountSettings, budget: MemoryBudget, workers: Workers) -> Counts:
    """Choose the vocabulary of a token stream and count its pairs; see :func:`count_corpus`. The stream is closed."""
    vocabulary = choose_vocabulary(stream, settings)
    vocabulary_ids = vocabulary_ids_of(stream, vocabulary)
    details = stream_details(stream, vocabulary)
    if stream.max_dropped_count:
        # The memory limit determined which words were dropped, so the limit is needed to reproduce the result.
        details |= {"dropped_up_to": stream.max_dropped_count, "memory": budget.memory}
    stream.word_ids.clear()
    matrix = count_vocabulary_pairs(stream, vocabulary_ids, len(vocabulary), settings, budget, workers)
    return Counts(matrix, vocabulary, settings, details)


def count_vocabulary_pairs(
    stream: TokenStream,
    vocabulary_ids: NDArray[np.int32],
    words: int,
    settings: CountSettings,
    budget: MemoryBudget,
    workers: Workers,
    *,
    in_units: bool = False,
) -> SpilledMatrix:
    """Count the pairs of vocabulary words in a token stream, and close the stream.

    Args:
        stream: the tokens.
        vocabulary_ids: int32 vocabulary id of each word id of the stream; -1 for a word outside the vocabulary.
        words: V, the number of words in the vocabulary.
        settings: settings for counting.
        budget: memory limit and folder for temporary files.
        workers: pool of threads or processes; the number of workers does not change the counts.
        in_units: whether the entries of the result are integer numbers of units instead of counts, so that they can be
            added to the entries for other texts.
    """
    units, units_per_count = unit_weights(settings.weighting, settings.window)
    units_per_count = 1 if in_units else units_per_count
    longest = max((int(part.max(initial=0)) for part in stream.lengths.parts()), default=0)
    padding = _BYTES_PER_PADDING * _reach(settings.window, longest)
    in_one_block = _BYTES_PER_TOKEN * len(stream.ids) + padding * len(stream.lengths) <= budget.memory
    partials: list[SpilledMatrix] = []
    done = 0
    for lengths in _grouped(stream.lengths.parts(), budget.memory, _BYTES_PER_TOKEN, padding):
        reach = _reach(settings.window, int(lengths.max()))
        tokens = min(max(_SEGMENT, _SEGMENT_PER_WORD * words), max(budget.memory // _MEMORY_PER_TOKEN, 1))
        segments = list(_grouped([lengths], tokens))
        index = build_index(stream.ids, done, segments, vocabulary_ids, words, reach, workers)
        share, remaining = lengths.sum() / len(stream.ids), 1 - done / len(stream.ids)
        done += int(lengths.sum())
        partial = SpilledMatrix(words, budget, units_per_count if in_one_block else 1)
        for rows in count_pairs(PairCounter(index, units[:reach]), workers):
            partial.append(rows)
        del index, rows  # frees the block and the row buffers
        if not in_one_block:
            partial.spill(budget, share, remaining)
        partials = add_partial(partials, partial, budget, workers)
    stream.close()
    if not partials:
        return SpilledMatrix.empty(words, budget)
    return partials[0] if in_one_block else sum_partials(partials, budget, workers, units_per_count)


def add_partial(
    partials: list[SpilledMatrix], partial: SpilledMatrix, budget: MemoryBudget, workers: Workers
) -> list[SpilledMatrix]:
    """Return ``[*partials, partial]`` or, if this list has _FAN_IN matrices, a list that contains only their sum."""
    partials = [*partials, partial]
    return [sum_partials(partials, budget, workers)] if len(partials) == _FAN_IN else partials


def sum_partials(
    partials: list[SpilledMatrix], budget: MemoryBudget, workers: Workers, units_per_count: int = 1
) -> SpilledMatrix:
    """Add partial matrices, and divide the sum by ``units_per_count``, the number of units in a weight of 1."""
    # `matrix_sums` is imported only here, because it imports SciPy, which takes as long as counting a small corpus.
    from nlptx.cooccurrence.matrix_sums import sum_matrices

    return sum_matrices(partials, budget, workers, units_per_count)


def stream_details(stream: TokenStream, vocabulary: Vocabulary) -> dict[str, int]:
    """Return the number of tokens of a stream, of those that are in the vocabulary, and of distinct words.

    Words that were dropped for lack of memory are not among the distinct words, but their tokens are counted.
    """
    return {
        "tokens": int(stream.word_counts.sum()),
        "known_tokens": int(vocabulary.counts.sum()),
        "distinct_words": len(stream.word_ids),
    }


def choose_vocabulary(stream: TokenStream, settings: CountSettings) -> Vocabulary:
    """Return the most frequent words of a token stream. Raises DataError if no word is frequent enough."""
    counts = stream.counts(settings.min_count) or stream.counts()
    if not counts and stream.max_dropped_count:
        raise DataError(
            "there is too little memory for all distinct words, and none is frequent enough to be kept",
            hint="Raise `memory`.",
        )
    return vocabulary_from(counts, settings)


def vocabulary_from(counts: dict[bytes, int], settings: CountSettings) -> Vocabulary:
    """Return the most frequent words, given the count of each word.

    Raises:
        DataError: no word occurs ``min_count`` times.
    """
    words = rank_words(counts, settings.min_count, settings.max_words)
    if not words:
        if not counts:
            raise DataError("the corpus is empty: no word was found in it")
        top = max(counts, key=counts.__getitem__)
        raise DataError(
            f"no word occurs {settings.min_count} times;"
            f" the most frequent, {as_text(top)!r}, occurs {counts[top]} time{'s' * (counts[top] != 1)}",
            hint="Lower `min_count`, or use more text.",
        )
    totals = np.array([counts[word] for word in words], np.int64)
    tokenizer = Tokenizer(settings.tokenizer, settings.lowercase)
    return Vocabulary([as_text(word) for word in words], totals, tokenizer)


def vocabulary_ids_of(stream: TokenStream, vocabulary: Vocabulary) -> NDArray[np.int32]:
    """Return the vocabulary id of each word id of a token stream, int32; -1 for a word outside the vocabulary."""
    vocabulary_ids = np.full(len(stream.word_counts), -1, np.int32)
    for index, word in enumerate(vocabulary.words):
        word_id = stream.word_ids.get(word.encode("utf-8", "surrogatepass"))
        if word_id is not None:
            vocabulary_ids[word_id] = index
    return vocabulary_ids


def _reach(window: int, longest: int) -> int:
    """Return the maximum distance between the words of a pair, in documents of at most ``longest`` tokens."""
    return min(window, max(longest - 1, 1))


def _grouped(
    lengths: Iterable[NDArray[np.int64]], limit: int, per_token: int = 1, per_document: int = 0
) -> Iterator[NDArray[np.int64]]:
    """Yield the lengths of the non-empty documents in groups.

    The cost of a document of n tokens is ``per_token`` * n + ``per_document``. The cost of a group is at most
    ``limit``, unless the group consists of a single document.
    """
    group: list[NDArray[np.int64]] = []
    cost = 0
    for part in lengths:
        part = part[part > 0]
        ends = np.concatenate([[0], np.cumsum(per_token * part + per_document)])
        start = 0
        while start < len(part):
            stop = int(np.searchsorted(ends, ends[start] + limit - cost, side="right")) - 1
            stop = max(stop, start if group else start + 1)
            group.append(part[start:stop])
            cost += int(ends[stop] - ends[start])
            start = stop
            if start < len(part):
                yield np.concatenate(group)
                group, cost = [], 0
    if group:
        yield np.concatenate(group)
