"""Counting pairs of nearby words, exactly: sort, sum, merge; integers throughout."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

# Pairs that are sorted together: few enough for the sort to stay near the caches.
_BLOCK_PAIRS = 1 << 21
# Up to this window 1/d is a whole number of 1/lcm(1..window) units that cannot overflow int64.
_LARGEST_EXACT_WINDOW = 20
_FIXED_POINT = 1 << 32


def unit_weights(weighting: str, window: int) -> tuple[NDArray[np.int64], int]:
    """Return the weights of distances 1..window in whole units, and how many units make 1.

    Harmonic weights 1/d are exact up to window 20 and rounded to 2^-32 beyond.

    >>> unit_weights("harmonic", 3)
    (array([6, 3, 2]), 6)
    """
    distances = range(1, window + 1)
    if weighting == "uniform":
        return np.ones(window, np.int64), 1
    if weighting == "linear":
        return np.array([window - d for d in distances], np.int64), window
    one = math.lcm(*distances) if window <= _LARGEST_EXACT_WINDOW else _FIXED_POINT
    return np.array([round(one / d) for d in distances], np.int64), one


def count_pairs(
    ids: NDArray[np.int32], documents: NDArray[np.int32], words: int, units: NDArray[np.int64], jobs: int
) -> sp.csr_matrix:
    """Count the pairs of words of one document at most ``len(units)`` positions apart.

    Args:
        ids: (N,) int32, word at each position.
        documents: (N,) int32, document of each position.
        words: V, the number of words.
        units: (window,) int64, what a pair at distance 1, 2, ... adds.
        jobs: threads.

    Returns:
        (V, V) int64 CSR, symmetric: entry [a, b] sums over positions of ``a`` and of ``b`` around them.
    """
    block = max(1, _BLOCK_PAIRS // len(units))

    def count_block(start: int) -> sp.csr_matrix:
        span = slice(start, start + block + len(units))
        return _count_block(ids[span], documents[span], block, words, units)

    with ThreadPoolExecutor(jobs) as pool:
        upper = _sum_in_tree(_few_ahead(pool, count_block, range(0, len(ids), block), jobs + 1))
    if upper is None:
        return sp.csr_matrix((words, words), dtype=np.int64)
    both = upper + upper.T.tocsr()
    both.sort_indices()
    return both


def _few_ahead(
    pool: ThreadPoolExecutor, work: Callable[[int], sp.csr_matrix], starts: range, most: int
) -> Iterator[sp.csr_matrix]:
    """Map ``work`` over ``starts`` in threads, in order, with at most ``most`` results waiting in memory."""
    waiting: deque[Future[sp.csr_matrix]] = deque()
    for start in starts:
        waiting.append(pool.submit(work, start))
        if len(waiting) > most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _count_block(
    ids: NDArray[np.int32], documents: NDArray[np.int32], block: int, words: int, units: NDArray[np.int64]
) -> sp.csr_matrix:
    """Count pairs whose first word lies in the first ``block`` positions, as an upper triangle.

    A pair becomes the integer (smaller id * V + larger id) << bits | distance; sorting brings equal pairs together.
    """
    bits = len(units).bit_length()
    keys = []
    for distance, weight in enumerate(units, start=1):
        if weight == 0:
            continue
        left, right = ids[:block], ids[distance : distance + block]
        left = left[: len(right)]
        together = documents[: len(left)] == documents[distance : distance + len(left)]
        low = np.minimum(left, right)[together].astype(np.int64)
        high = np.maximum(left, right)[together]
        low *= words
        low += high
        low <<= bits
        low |= distance
        keys.append(low)
    pairs = np.concatenate(keys) if keys else np.empty(0, np.int64)
    if not len(pairs):
        return sp.csr_matrix((words, words), dtype=np.int64)
    pairs.sort()
    worth = np.concatenate([[0], units])[pairs & ((1 << bits) - 1)]
    pairs >>= bits
    starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
    sums = np.add.reduceat(worth, starts)
    rows, columns = np.divmod(pairs[starts], words)
    indptr = np.searchsorted(rows, np.arange(words + 1)).astype(np.int32)
    return sp.csr_matrix((sums, columns.astype(np.int32), indptr), shape=(words, words))


def _sum_in_tree(runs: Iterator[sp.csr_matrix]) -> sp.csr_matrix | None:
    """Sum matrices, equals with equals, so that each entry is copied a logarithmic number of times."""
    stack: list[tuple[int, sp.csr_matrix]] = []
    for run in runs:
        level = 0
        while stack and stack[-1][0] == level:
            run = stack.pop()[1] + run
            level += 1
        stack.append((level, run))
    total = None
    while stack:
        run = stack.pop()[1]
        total = run if total is None else run + total
    return total
