"""Computes vectors of n-grams from counts of the words near them.

The context of an n-gram consists of the words at distances NEAR to FAR before and after it. Let f_g be the vector of
the relative frequencies of the context words near n-gram g, and D the diagonal matrix of the weights of the context
words (:mod:`nlptx.regions.contexts`). Then

    x_g = D (f_g - f),

where f contains the relative frequencies near all frequent words together, when the components are computed, and near
all known words together, when the vectors are computed.

Let X be the matrix whose rows are the x_g of the frequent words, and N the diagonal matrix with the number of words in
the contexts of each frequent word. The components are the leading eigenvectors U of X^T N X. With the diagonal matrix L
of the eigenvalues, the vector of n-gram g is

    n_g / (n_g + n_0) x_g U L^(-1/4),

where n_g is the number of words in the contexts of the n-gram, and n_0 is a constant. The factor n_g / (n_g + n_0)
makes the vectors of rare n-grams short. Finally, all vectors are divided by the same number, so that the mean squared
norm of the vectors of single words is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.pca.power_iteration import power_iteration
from nlptx.pca.row_blocks import by_rows, inner
from nlptx.regions.contexts import positions_in
from nlptx.regions.region_ngrams import ORDER, RegionNgrams
from nlptx.regions.spacing import in_groups, with_gaps
from nlptx.runtime.workers import Workers

NEAR, FAR = 2, 10
# Maximum number of rows of X, one for each frequent word. If the texts have more than _MANY_WORDS words in total, only
# every _STEP-th text is used for the components, because approximate components are good enough.
_MAX_ROWS = 8000
_MANY_WORDS, _STEP = 1 << 22, 4
# The constant n_0: about the number of words in the contexts of an n-gram that occurs 30 times.
_SHRINKAGE = 30 * 2 * (FAR - NEAR + 1)
# Maximum relative residual of the eigenvectors: a large tolerance, because the exact directions of the eigenvectors do
# not matter.
_TOLERANCE = 0.05
# Approximate number of words in the texts that are processed at a time: when context words are counted, and when the
# vectors of context words are summed.
_WORDS_COUNTED_AT_A_TIME, _WORDS_SUMMED_AT_A_TIME = 1 << 18, 1 << 13
# A worker returns one array of sums, with a row for every n-gram, for about this many words. At most _MAX_SUMMING
# workers compute such arrays at a time, because with 256 filters per group, each array may take up 80 MB.
_WORDS_PER_TASK, _MAX_SUMMING = 1 << 20, 4

Report = Callable[[float], None]


def fit_vectors(
    texts: Sequence[NDArray[np.integer]],
    ngrams: RegionNgrams,
    counts: NDArray[np.int64],
    weights: NDArray[np.float64],
    components: int,
    rng: np.random.Generator,
    workers: Workers,
    report: Report = lambda fraction: None,
) -> NDArray[np.float32]:
    """Return the vectors (G, K) of n-grams, scaled so that the mean squared norm of the vectors of single words is 1.

    If no word has a weight, there are no context words, and the vectors are zeros, (G, 1).

    Args:
        texts: word ids of each text.
        ngrams: the G n-grams whose vectors are computed.
        counts: (V,) number of occurrences of each word in the texts.
        weights: (V,) weights of the context words; 0 for other words.
        components: maximum number of components K.
        rng: source of randomness for the power iteration.
        workers: pool of threads or processes; its size does not change the result.
        report: callback that receives the completed fraction.
    """
    contexts = np.flatnonzero(weights)
    if not len(contexts):
        return np.zeros((len(ngrams), 1), np.float32)
    sample = texts[::_STEP] if counts.sum() > _MANY_WORDS else texts
    context_vectors = _components(
        sample, counts, contexts, weights[contexts], components, rng, workers, lambda x: report(x / 4)
    )
    table = np.zeros((len(weights) + 1, context_vectors.shape[1] + 1), np.float32)
    table[contexts, :-1] = context_vectors
    table[:-1, -1] = 1  # the sum of this column over the words of a context is the number of these words
    sums = _sums(texts, ngrams, table, int(counts.sum()), workers, lambda x: report(0.25 + 0.75 * x))
    context_sizes = sums[:, -1:]
    mean = sums[: ngrams.single].sum(axis=0, dtype=np.float64)
    vectors = sums[:, :-1] / np.maximum(context_sizes, 1) - (mean[:-1] / max(mean[-1], 1)).astype(np.float32)
    vectors *= context_sizes / (context_sizes + _SHRINKAGE)
    square = float(np.mean(np.square(vectors[: ngrams.single], dtype=np.float64).sum(axis=1)))
    return vectors / np.float32(np.sqrt(square) or 1)


def _components(
    texts: Sequence[NDArray[np.integer]],
    counts: NDArray[np.int64],
    contexts: NDArray[np.int64],
    weights: NDArray[np.float64],
    components: int,
    rng: np.random.Generator,
    workers: Workers,
    report: Report,
) -> NDArray[np.float32]:
    """Return the matrix D U L^(-1/4) of the module docstring, (contexts, K): one row for each context word."""
    frequent = np.sort(np.argsort(-counts, kind="stable")[:_MAX_ROWS])
    row, column = (positions_in(words, len(counts)) for words in (frequent, contexts))

    def work(group: list[NDArray[np.integer]]) -> tuple[sp.csr_matrix, NDArray[np.float64]]:
        lengths = np.array([len(ids) for ids in group])
        ids, positions = with_gaps(np.concatenate(group), lengths, FAR, len(counts))
        positions = positions[row[ids[positions]] < len(frequent)]
        near = np.stack([ids[positions + sign * d] for d in range(NEAR, FAR + 1) for sign in (-1, 1)], axis=1)
        rows = row[ids[positions]]
        of_rows = _ones(rows[:, None], len(frequent)).T.tocsr()
        context_sizes = np.bincount(rows, (near < len(counts)).sum(axis=1), len(frequent)).astype(np.float64)
        return of_rows @ _ones(column[near], len(contexts)), context_sizes

    x, context_sizes = np.zeros((len(frequent), len(contexts)), np.float32), np.zeros(len(frequent))
    done = 0
    total = sum(map(len, texts))
    for part, part_sizes in workers.map(work, in_groups(texts, _WORDS_COUNTED_AT_A_TIME)):
        rows = np.repeat(np.arange(len(frequent)), np.diff(part.indptr))
        x[rows, part.indices] += part.data
        context_sizes += part_sizes
        done += _WORDS_COUNTED_AT_A_TIME
        report(min(done / total, 1))
    mean = x.sum(axis=0, dtype=np.float64) / max(context_sizes.sum(), 1)
    x /= np.maximum(context_sizes, 1).astype(np.float32)[:, None]
    x -= mean.astype(np.float32)
    x *= np.sqrt(context_sizes).astype(np.float32)[:, None]
    x *= weights.astype(np.float32)

    def product(block: NDArray[np.float32]) -> NDArray[np.float32]:
        # A few such products take less time than X^T X.
        return inner(x, by_rows(lambda rows: x[rows] @ block, x, block.shape[1], workers), workers).astype(np.float32)

    pairs = power_iteration(
        product,
        len(contexts),
        min(components, len(contexts)),
        tolerance=_TOLERANCE,
        rng=rng,
        dtype=np.float32,
        workers=workers,
    )
    kept = pairs.values > 1e-6 * pairs.values[0]
    return weights[:, None].astype(np.float32) * pairs.vectors[:, kept] / pairs.values[kept] ** 0.25


def _sums(
    texts: Sequence[NDArray[np.integer]],
    ngrams: RegionNgrams,
    table: NDArray[np.float32],
    total: int,
    workers: Workers,
    report: Report,
) -> NDArray[np.float32]:
    """Return, for each n-gram, the sum of the rows of ``table`` of all words in its contexts, (G, K + 1).

    ``table`` (V + 1, K + 1) has one row per word, and a last row of zeros for the gaps between texts. ``total``, the
    number of words in the texts, is needed for progress reports.
    """
    unknown = len(table) - 1

    def work(task: list[NDArray[np.integer]]) -> NDArray[np.float32]:
        sums = np.zeros((len(ngrams), table.shape[1]), np.float32)
        for group in in_groups(task, _WORDS_SUMMED_AT_A_TIME):
            lengths = np.array([len(ids) for ids in group])
            words = np.concatenate(group)
            ngram_indices = ngrams.find(words, lengths)
            ids, positions = with_gaps(words, lengths, FAR + ORDER, unknown)
            window_sums = _window_sums(table[ids])
            after = window_sums[positions + NEAR]
            for n in range(ORDER):  # n-grams of n + 1 words
                distinct, rows = _grouped(ngram_indices[:, n], len(ngrams))
                sums[distinct] += rows @ (after + window_sums[positions - n - FAR])
        return sums

    sums = np.zeros((len(ngrams), table.shape[1]), np.float32)
    tasks = in_groups(texts, _WORDS_PER_TASK)
    with workers.at_most(_MAX_SUMMING) as pool:
        for done, part in enumerate(pool.map(work, tasks, isolated=total > _WORDS_PER_TASK), 1):
            sums += part
            report(min(done * _WORDS_PER_TASK / total, 1))
    return sums


def _window_sums(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return, for each row, the sum of this row and the next FAR - NEAR rows. Rows after the last one count as 0."""
    size, done = FAR - NEAR + 1, 0
    power, width = vectors, 1  # sums of `width` rows
    result = np.zeros_like(vectors)
    while size:
        if size & 1:
            result[: len(result) - done] += power[done:]
            done += width
        size >>= 1
        if size:
            doubled = power.copy()
            doubled[:-width] += power[width:]
            power, width = doubled, 2 * width
    return result


def _grouped(indices: NDArray[np.int32], known: int) -> tuple[NDArray[np.int32], sp.csr_matrix]:
    """Return the distinct values in ``indices`` (N,) below ``known``, and a matrix that sums rows with equal indices.

    The matrix has the shape (distinct values, N). Its product with an array of N rows has one row per distinct value:
    the sum of the rows whose index equals this value.
    """
    order = np.argsort(indices, kind="stable")
    order = order[: int(np.searchsorted(indices[order], known))]
    values = indices[order]
    first = np.flatnonzero(np.diff(values, prepend=-1))
    starts = np.append(first, len(values))
    rows = sp.csr_matrix((np.ones(len(values), np.float32), order, starts), shape=(len(first), len(indices)))
    return values[first], rows


def _ones(entries: NDArray[np.integer], columns: int) -> sp.csr_matrix:
    """Return a matrix (N, columns) that counts how often each column occurs in each row of ``entries`` (N, M).

    Entries greater than or equal to ``columns`` are ignored.
    """
    known = entries < columns
    starts = np.zeros(len(entries) + 1, np.int64)
    np.cumsum(known.sum(axis=1), out=starts[1:])
    chosen = entries[known]
    return sp.csr_matrix((np.ones(len(chosen), np.float32), chosen, starts), shape=(len(entries), columns))
