"""Converts texts to word ids, without punctuation marks, so that texts can be compared with each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.io.memory_budget import MemoryBudget
from nlptx.runtime.progress import counted
from nlptx.runtime.slices import ranges
from nlptx.runtime.workers import Workers
from nlptx.settings import CountSettings
from nlptx.text.blocks import in_blocks
from nlptx.text.token_stream import TokenStream
from nlptx.text.tokenizer import Tokenizer

# PLAIN is the tokenizer for comparing texts with each other. It does not mark negated words; if it did, one additional
# "not" would change several words. FOR_MODELS is the default tokenizer of ``nlptx train``.
PLAIN, FOR_MODELS = Tokenizer("words"), Tokenizer(CountSettings().tokenizer)


@dataclass(frozen=True)
class TextWords:
    """The words of N texts, in lower case.

    Args:
        ids: (T,) int32 word ids of all texts, concatenated. Tokens without a letter or a digit are left out.
        starts: (N + 1,) int64 index in ``ids`` of the first word of each text; the last entry is T.
        size: upper bound of the ids (exclusive); it can exceed the number of distinct words, because tokens that are
            left out also have ids.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    size: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(N,) number of words in each text."""
        return np.diff(self.starts)

    def take(self, rows: NDArray[np.int64]) -> TextWords:
        """Return the words of the texts with the given indices (B,)."""
        lengths = self.lengths[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return TextWords(self.ids[ranges(self.starts[rows], lengths)], starts, self.size)


def find_words(
    texts: Sequence[str],
    workers: Workers,
    on_progress: Callable[[int], None] = lambda texts: None,
    tokenizer: Tokenizer = PLAIN,
) -> TextWords:
    """Tokenize texts, and leave out tokens without a letter or a digit.

    Args:
        texts: the N texts.
        workers: pool of threads or processes; the number of workers does not change the result.
        on_progress: called repeatedly with the number of texts read so far.
        tokenizer: ``PLAIN`` to compare texts with each other, or ``FOR_MODELS`` to fit models on them.
    """
    with MemoryBudget() as memory:
        stream = TokenStream(memory)
        stream.read(in_blocks(counted(texts, on_progress)), tokenizer, workers)
        words = list(stream.word_ids)
        ids, lengths = np.array(stream.ids.array()), np.array(stream.lengths.array())
    numbers = np.fromiter(stream.word_ids.values(), np.int64, len(words))
    size = int(numbers.max(initial=-1)) + 1
    is_word = np.zeros(max(size, int(ids.max(initial=-1)) + 1), bool)
    for number, word in zip(numbers.tolist(), words, strict=True):
        is_word[number] = word.isalnum() or any(map(str.isalnum, word.decode("utf-8", "surrogatepass")))
    kept = is_word[ids]
    before = np.concatenate([[0], np.cumsum(kept)])
    starts = before[np.concatenate([[0], np.cumsum(lengths)])]
    return TextWords(ids[kept], starts.astype(np.int64), size)
