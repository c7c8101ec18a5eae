"""Out-of-fold label probabilities from n-gram models like those used in training.

The texts are assigned to folds. The probabilities of a text are predicted by a logistic regression on naive-Bayes
ratios (:mod:`nlptx.ngrams.ratio_model`), fitted on the texts of all other folds.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.data_quality.words import TextWords
from nlptx.errors import DataError
from nlptx.ngrams import MAX_VOCABULARY
from nlptx.ngrams.key_index import KeyIndex
from nlptx.ngrams.ngram_keys import ngram_keys
from nlptx.ngrams.one_vs_rest import fit_labels
from nlptx.ngrams.ratio_model import fit_ratio_model
from nlptx.nn.activations import sigmoid
from nlptx.runtime.workers import Workers
from nlptx.sampling.copies import first_copies
from nlptx.sampling.splits import assign_folds

# Number of folds. With more folds, each model is fitted on more texts, but fitting all models takes more time.
_FOLDS = 10
# Maximum length of an n-gram, and minimum number of texts in which it must occur.
_ORDER, _MIN_TEXTS = 2, 2
# If there are more than _MANY_LABELS labels, a sparse model is fitted for each label, because dense weights for all
# labels would take too much memory.
_MANY_LABELS = 20


def ngram_rows(words: TextWords) -> sp.csr_matrix:
    """Return the n-gram matrix, (texts, G) float32: 1 / sqrt(T) if a text of T words contains the n-gram, 0 if not.

    Only n-grams in at least two texts have a column.

    Raises:
        DataError: there are too many distinct words.
    """
    if words.size > MAX_VOCABULARY:
        raise DataError(f"{words.size:,} distinct words are too many; at most {MAX_VOCABULARY:,} are supported")
    lengths = words.lengths
    keys = ngram_keys(words.ids, _ORDER, words.size, lengths)
    text = np.broadcast_to(np.repeat(np.arange(len(words)), lengths)[:, None], keys.shape)[keys >= 0]
    keys = keys[keys >= 0]
    order = np.lexsort((keys, text))
    keys, text = keys[order], text[order]
    new = (np.diff(keys, prepend=-1) != 0) | (np.diff(text, prepend=-1) != 0)
    keys, text = keys[new], text[new]
    known, seen = np.unique(keys, return_counts=True)
    known = known[seen >= _MIN_TEXTS]
    column = KeyIndex(known).find(keys)
    kept = column < len(known)
    column, text = column[kept], text[kept]
    values = 1 / np.sqrt(np.maximum(lengths, 1))[text]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(text, minlength=len(words)))])
    return sp.csr_matrix((values.astype(np.float32), column.astype(np.int32), indptr), (len(words), len(known)))


def fit_probabilities(
    rows: sp.csr_matrix, targets: NDArray, classes: int, others: sp.csr_matrix
) -> NDArray[np.float64]:
    """Fit a model on labelled texts, and return the label probabilities (B, C) of other texts.

    Args:
        rows: (N, G) rows of the labelled texts in the n-gram matrix; see :func:`ngram_rows`.
        targets: (N,) int64 class of each text; for multi-label data, (N, C) bool, True where a text has a label.
        classes: number of labels C.
        others: (B, G) rows of the other texts in the n-gram matrix.
    """
    multi_label = targets.ndim == 2
    if classes > _MANY_LABELS:
        has = sp.csr_matrix(targets if multi_label else targets[:, None] == np.arange(classes), dtype=np.float64)
        models = fit_labels(rows, has, _MIN_TEXTS)
        probabilities = sigmoid(((others @ models.products).toarray() + models.bias).astype(np.float64))
        return probabilities if multi_label else probabilities / probabilities.sum(axis=1, keepdims=True)
    model = fit_ratio_model(rows, targets, classes, _MIN_TEXTS)
    outputs = np.asarray(others @ model.ratio_weights + model.bias, np.float64)
    if multi_label:
        return np.asarray(sigmoid(outputs))
    if classes == 2:
        return np.hstack([sigmoid(-outputs), sigmoid(outputs)])
    exponentials = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def out_of_fold_probabilities(
    words: TextWords,
    targets: NDArray,
    classes: int,
    rng: np.random.Generator,
    workers: Workers,
    on_progress: Callable[[float], None] = lambda fraction: None,
) -> NDArray[np.float64]:
    """Return the label probabilities of each text, (N, C), from a model that was not fitted on this text.

    Args:
        words: words of the N texts.
        targets: (N,) int64 class of each text; for multi-label data, (N, C) bool, True where a text has a label.
        classes: number of labels C.
        rng: random number generator for assigning texts to folds.
        workers: pool of threads; the number of threads does not change the result.
        on_progress: called with the completed fraction.
    """
    rows = ngram_rows(words)
    folds = min(_FOLDS, len(words))
    first = first_copies(words.ids[start:end] for start, end in pairwise(words.starts))
    fold = assign_folds(targets, folds, rng, first)
    result = np.zeros((len(words), classes))

    def predict(number: int) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        held_out = fold == number
        return held_out, fit_probabilities(rows[~held_out], targets[~held_out], classes, rows[held_out])

    for done, (held_out, probabilities) in enumerate(workers.map(predict, range(folds)), start=1):
        result[held_out] = probabilities
        on_progress(done / folds)
    return result
