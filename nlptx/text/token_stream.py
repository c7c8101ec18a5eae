"""A corpus as one stream of integer ids: find the tokens, number the words, on all cores."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from nlptx.io.spill import MemoryBudget
from nlptx.runtime.workers import Workers
from nlptx.text.blocks import BLOCK, cut
from nlptx.text.scanner import Scanner
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.word_ids import words_to_ids

# Characters handed to a thread at a time, unless memory is short.
_CHUNK = 8_000_000
# A chunk takes about ten times its characters, and a few are under way at a time.
_CHUNK_SHARE = 128
# What a distinct word takes in the tables here.
_BYTES_PER_WORD = 150


class TokenStream:
    """A corpus as ids, and how often each word was seen.

    Where more distinct words turn up than there is memory for, the rarest are dropped on the way, as
    word2vec does; each may have been seen up to ``dropped`` times, and is counted anew if it comes again.

    Args:
        space: how much memory there is, and where ids go that do not fit.

    Attributes:
        numbers: word, in UTF-8 -> its number.
        totals: (numbers or more,) int64, how often each number was seen.
        ids: int32, the numbers of all tokens.
        lengths: int64, tokens of each document.
        dropped: the count up to which words may have been dropped; 0 if none was.
    """

    def __init__(self, space: MemoryBudget) -> None:
        self.numbers: defaultdict[bytes, int] = defaultdict(itertools.count().__next__)
        self.totals = np.zeros(1024, np.int64)
        self.ids = space.spilled_array(np.int32, space.memory // 16)
        self.lengths = space.spilled_array(np.int64, space.memory // 16)
        self.dropped = 0
        self._chunk = min(_CHUNK, max(space.memory // _CHUNK_SHARE, BLOCK))
        self._most_words = int(space.memory // (2 * _BYTES_PER_WORD))

    def read(self, blocks: Iterable[bytes], tokenizer: Tokenizer, workers: Workers) -> None:
        """Tokenise and number a corpus, a document a line. The result depends on it alone, not on the workers."""
        scanner = Scanner(tokenizer)
        for chunk in workers.map(lambda part: words_to_ids(part, scanner), cut(blocks, self._chunk)):
            number = np.fromiter(map(self.numbers.__getitem__, chunk.words), np.int32, len(chunk.words))
            missing = int(number.max(initial=-1)) + 1 - len(self.totals)
            if missing > 0:
                self.totals = np.concatenate([self.totals, np.zeros(max(len(self.totals), missing), np.int64)])
            # Each word stands once in `number`, so this indexed sum loses nothing.
            self.totals[number] += chunk.counts
            self.ids.append(number[chunk.ids])
            self.lengths.append(chunk.lengths)
            if len(self.numbers) > self._most_words:
                self._drop_rare_words()

    def _drop_rare_words(self) -> None:
        """Forget the rarest words, so that at most half as many remain as there is memory for."""
        counts = self.totals[np.fromiter(self.numbers.values(), np.int64, len(self.numbers))]
        counts.sort()
        self.dropped = max(self.dropped, int(counts[-(self._most_words // 2 + 1)]))
        kept = {word: number for word, number in self.numbers.items() if self.totals[number] > self.dropped}
        self.numbers = defaultdict(self.numbers.default_factory, kept)

    def close(self) -> None:
        """Let go of the ids."""
        self.ids.close()
        self.lengths.close()

    def counts(self, least: int = 1) -> dict[bytes, int]:
        """Return how often each word was seen, of those seen ``least`` times or more."""
        counts = self.totals[np.fromiter(self.numbers.values(), np.int64, len(self.numbers))]
        often = counts >= least
        return dict(zip(itertools.compress(self.numbers, often), counts[often].tolist(), strict=True))
