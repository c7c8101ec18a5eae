"""A corpus as one stream of integer ids: tokenise and number the words, on all cores."""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from nlptx.text import Tokenizer

# Characters of text handed to a worker at a time: long enough that starting a task costs nothing.
_CHUNK = 4_000_000


@dataclass(frozen=True)
class NumberedChunk:
    """Some documents, their words numbered in order of appearance.

    Args:
        words: the distinct words; a word's number is its place here.
        ids: (N,) int32, the words of all documents in order.
        lengths: (documents,) int64, words per document.
    """

    words: list[str]
    ids: NDArray[np.int32]
    lengths: NDArray[np.int64]


def number_words(texts: list[str], tokenizer: Tokenizer) -> NumberedChunk:
    """Tokenise ``texts`` and number their words."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    lengths = np.empty(len(texts), np.int64)
    parts = []
    for row, text in enumerate(texts):
        tokens = tokenizer(text)
        lengths[row] = len(tokens)
        parts.append(np.fromiter(map(numbers.__getitem__, tokens), np.int32, len(tokens)))
    return NumberedChunk(list(numbers), np.concatenate(parts), lengths)


@dataclass(frozen=True)
class TokenStream:
    """A whole corpus as ids.

    Args:
        counts: every distinct word -> how often it was seen; its id is its place.
        chunks: pairs of (N,) int32 ids and (documents,) int64 lengths.
    """

    counts: dict[str, int]
    chunks: list[tuple[NDArray[np.int32], NDArray[np.int64]]]


def read_tokens(texts: Iterable[str], tokenizer: Tokenizer, jobs: int) -> TokenStream:
    """Tokenise and number a corpus. The result depends on the texts alone, not on ``jobs``."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    totals = np.zeros(1024, np.int64)
    chunks = []
    for chunk in _in_order(_cut(texts), number_words, tokenizer, jobs):
        renumber = np.fromiter(map(numbers.__getitem__, chunk.words), np.int32, len(chunk.words))
        if len(numbers) > len(totals):
            totals = np.concatenate([totals, np.zeros(max(len(totals), len(numbers) - len(totals)), np.int64)])
        # Each word stands once in `renumber`, so this indexed sum loses nothing.
        totals[renumber] += np.bincount(chunk.ids, minlength=len(chunk.words))
        chunks.append((renumber[chunk.ids], chunk.lengths))
    return TokenStream(dict(zip(numbers, totals.tolist(), strict=False)), chunks)


def _cut(texts: Iterable[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text)
        if size >= _CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _in_order(
    chunks: Iterator[list[str]],
    work: Callable[[list[str], Tokenizer], NumberedChunk],
    tokenizer: Tokenizer,
    jobs: int,
) -> Iterator[NumberedChunk]:
    """Apply ``work`` to each chunk in worker processes, results in order, few chunks in memory at once."""
    first = list(islice(chunks, 2))
    chunks = chain(first, chunks)
    if len(first) < 2 or jobs == 1:
        # Not worth, or not allowed, a second process.
        yield from (work(chunk, tokenizer) for chunk in chunks)
        return
    waiting: deque[list[str]] = deque()
    results: deque[Future[NumberedChunk]] = deque()
    try:
        with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_ignore_interrupt) as pool:
            for chunk in chunks:
                waiting.append(chunk)
                results.append(pool.submit(work, chunk, tokenizer))
                if len(results) > jobs + 1:
                    yield results.popleft().result()
                    waiting.popleft()
            while results:
                yield results.popleft().result()
                waiting.popleft()
    except BrokenProcessPool:
        # A worker begins by importing the main module, which fails for a script on standard input and for one
        # that does its work unguarded. The chunks without a result are still here.
        yield from (work(chunk, tokenizer) for chunk in chain(waiting, chunks))


def _ignore_interrupt() -> None:
    """Leave Ctrl-C to the parent, which ends its workers."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


def default_jobs() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
