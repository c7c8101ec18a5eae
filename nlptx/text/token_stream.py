"""A corpus as one stream of word ids. Tokenization uses all workers."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.ragged_array import RaggedArray
from nlptx.runtime.processes import is_only_thread
from nlptx.runtime.workers import Workers
from nlptx.text.blocks import BLOCK, group_by_size
from nlptx.text.negated_ids import mark_negated_ids
from nlptx.text.scanner import scanner_of
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.word_ids import EncodedChunk, words_to_ids

# Maximum number of characters in a chunk, the part of a corpus that a worker tokenizes at a time.
_CHUNK = 8_000_000
# The number of characters in a chunk is the memory limit in bytes divided by this number, but at least BLOCK and at
# most _CHUNK. A chunk takes about ten bytes of memory per character, and a few chunks are processed at a time.
_MEMORY_PER_CHARACTER = 128
# Number of words that are processed at a time after the corpus was read.
_WORDS_PER_GROUP = 1 << 20
# Memory, in bytes, for each distinct word in ``word_ids`` and ``word_counts`` of a TokenStream.
_BYTES_PER_WORD = 150


class TokenStream:
    """A corpus as word ids, with the number of occurrences of each word.

    If there are more distinct words than fit in memory, the rarest are dropped while the corpus is read, as in
    word2vec. When a word is dropped, its count is at most ``max_dropped_count``. If the word occurs again later, it is
    counted from zero.

    Args:
        budget: memory limit, and folder for the ids that are spilled to disk.
        word_memory: maximum number of bytes for the distinct words and their counts; by default half of the memory
            limit.

    Attributes:
        word_ids: mapping from the UTF-8 bytes of each word to its id.
        word_counts: int64 number of occurrences of each id; the array may be longer than the number of ids.
        ids: int32 ids of all tokens.
        lengths: int64 number of tokens per document.
        max_dropped_count: largest count that a word had when it was dropped; 0 if no word was dropped.
    """

    def __init__(self, budget: MemoryBudget, word_memory: int | None = None) -> None:
        self.word_ids: defaultdict[bytes, int] = defaultdict(itertools.count().__next__)
        self.word_counts = np.zeros(1024, np.int64)
        self.ids = budget.growing_array(np.int32, budget.array_limit)
        self.lengths = budget.growing_array(np.int64, budget.array_limit)
        self.max_dropped_count = 0
        self._chunk = min(_CHUNK, max(budget.memory // _MEMORY_PER_CHARACTER, BLOCK))
        self._max_words = (budget.memory // 2 if word_memory is None else word_memory) // _BYTES_PER_WORD

    def read(self, blocks: Iterable[bytes], tokenizer: Tokenizer, workers: Workers) -> None:
        """Tokenize a corpus, one document per line. The result does not depend on the number of workers."""
        scanner = scanner_of(tokenizer)
        parts = group_by_size(blocks, self._chunk)
        head = list(itertools.islice(parts, 2))
        # A process is not worth starting for a single chunk. Reading `blocks` may have started a thread.
        isolated = len(head) > 1 and is_only_thread()
        parts = itertools.chain(head, parts)
        del head  # the first chunks need not stay in memory

        def encode(part: list[bytes]) -> EncodedChunk:
            return mark_negated_ids(words_to_ids(part, scanner), tokenizer)

        for chunk in workers.map(encode, parts, isolated=isolated):
            self.add(chunk)

    def add(self, chunk: EncodedChunk) -> None:
        """Append documents whose words are already encoded as indices in ``chunk.words``."""
        chunk_ids = np.fromiter(map(self.word_ids.__getitem__, chunk.words), np.int32, len(chunk.words))
        missing = int(chunk_ids.max(initial=-1)) + 1 - len(self.word_counts)
        if missing > 0:
            self.word_counts = np.concatenate(
                [self.word_counts, np.zeros(max(len(self.word_counts), missing), np.int64)]
            )
        # This indexed addition is correct because the ids in `chunk_ids` are distinct.
        self.word_counts[chunk_ids] += chunk.counts
        self.ids.append(chunk_ids[chunk.ids])
        self.lengths.append(chunk.lengths)
        if len(self.word_ids) > self._max_words:
            self._drop_rare_words()

    def _drop_rare_words(self) -> None:
        """Drop the rarest words until at most half of the maximum number of words are left."""
        counts = self.word_counts[np.fromiter(self.word_ids.values(), np.int64, len(self.word_ids))]
        counts.sort()
        self.max_dropped_count = max(self.max_dropped_count, int(counts[-(self._max_words // 2 + 1)]))
        kept = {word: id_ for word, id_ in self.word_ids.items() if self.word_counts[id_] > self.max_dropped_count}
        self.word_ids = defaultdict(self.word_ids.default_factory, kept)

    def close(self) -> None:
        """Release the ids and the document lengths."""
        self.ids.close()
        self.lengths.close()

    def documents(self) -> RaggedArray:
        """Return the ids of the tokens of each document. The arrays are valid until :meth:`close`."""
        lengths = self.lengths.array()
        return RaggedArray(self.ids, np.cumsum(lengths) - lengths, lengths.astype(np.int32))

    def groups(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """Yield groups of consecutive documents: the ids of all their tokens, and the length of each document."""
        done = 0
        for part in self.lengths.parts():
            group = np.cumsum(part) // _WORDS_PER_GROUP
            for lengths in np.split(part, np.flatnonzero(np.diff(group)) + 1):
                end = done + int(lengths.sum())
                yield self.ids.read(done, end), lengths
                done = end

    def counts(self, min_count: int = 1) -> dict[bytes, int]:
        """Return the count of each word that occurs at least ``min_count`` times."""
        return self._by_word(self.word_counts, min_count)

    def counts_in(self, chosen: NDArray[np.bool_]) -> dict[bytes, int]:
        """Return the count of each word in the documents for which ``chosen`` (documents,) is True."""
        counts, done = np.zeros_like(self.word_counts), 0
        for ids, lengths in self.groups():
            np.add.at(counts, ids[np.repeat(chosen[done : done + len(lengths)], lengths)], 1)
            done += len(lengths)
        return self._by_word(counts, 1)

    def _by_word(self, counts: NDArray[np.int64], min_count: int) -> dict[bytes, int]:
        counts = counts[np.fromiter(self.word_ids.values(), np.int64, len(self.word_ids))]
        frequent = counts >= min_count
        return dict(zip(itertools.compress(self.word_ids, frequent), counts[frequent].tolist(), strict=True))
