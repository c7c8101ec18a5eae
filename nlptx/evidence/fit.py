"""Counting the evidence, with no training text seeing its own label.

The training texts are cut into folds. What a text sees is counted and fitted without its fold; texts from
elsewhere see what all training texts say.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.evidence.known import Evidence, TextEvidence
from nlptx.evidence.linear import fit_linear
from nlptx.evidence.ngrams import find, log_count_ratios, ngram_keys

FOLDS = 5


def fit_evidence(
    texts: Sequence[NDArray[np.integer]],
    targets: NDArray[np.int64],
    classes: int,
    order: int,
    words: int,
    min_texts: int,
    rng: np.random.Generator,
    pool: Executor,
) -> tuple[Evidence, list[TextEvidence]]:
    """Count and fit the evidence of labelled texts.

    Args:
        texts: (T,) word ids of each training text.
        targets: (texts,) class of each.
        classes: C.
        order: longest n-gram.
        words: V.
        min_texts: leave out n-grams found in fewer texts.
        rng: deals the texts into folds.
        pool: threads; they do not change the result.

    Returns:
        the evidence for texts from elsewhere, and that of each training text, its own fold left out.
    """
    keys = [ngram_keys(ids, order, words) for ids in texts]
    distinct = [np.unique(part[part >= 0]) for part in keys]
    known, seen = np.unique(np.concatenate(distinct), return_counts=True)
    known = known[seen >= min_texts]
    presence = _presence(distinct, known)
    folds = min(FOLDS, len(texts))
    fold = rng.permutation(len(texts)) % folds

    def fit(rows: NDArray[np.intp]) -> Evidence:
        part = presence[rows]
        counts = np.stack([np.asarray(part[targets[rows] == c].sum(axis=0)).ravel() for c in range(classes)], axis=1)
        ratios = log_count_ratios(counts.astype(np.int64), min_texts)
        return Evidence(order, words, known, ratios, *fit_linear(part, ratios, targets[rows]))

    parts = [np.flatnonzero(fold != number) for number in range(folds)]
    final, *outside = pool.map(fit, [np.arange(len(texts)), *parts])
    result = [outside[number].at(find(part, known)) for part, number in zip(keys, fold.tolist(), strict=True)]
    return final, result


def _presence(distinct: list[NDArray[np.int64]], known: NDArray[np.int64]) -> sp.csr_matrix:
    """Return (texts, G) float32: 1 where a text has an n-gram."""
    columns = [places[places < len(known)] for places in (find(part, known) for part in distinct)]
    indptr = np.concatenate([[0], np.cumsum([len(part) for part in columns])])
    indices = np.concatenate(columns).astype(np.int32)
    return sp.csr_matrix((np.ones(len(indices), np.float32), indices, indptr), shape=(len(distinct), len(known)))
