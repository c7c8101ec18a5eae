"""The ratio model, one of the two linear models of the n-gram features: a logistic regression on log-count ratios.

Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.logistic_regression import fit_sparse
from nlptx.ngrams.naive_bayes import log_count_ratios


class RatioModel(NamedTuple):
    """A fitted logistic regression on the log-count ratios.

    Args:
        ratios: (G, E) float32 log-count ratios of the n-grams.
        ratio_weights: (G, E) float32 ratios times the weights that were fitted for them.
        bias: (E,) float32 bias.
        lexicon_slope: (E,) float32 weight of the lexicon feature; zeros without a lexicon.
    """

    ratios: NDArray[np.float32]
    ratio_weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    lexicon_slope: NDArray[np.float32]


def fit_ratio_model(
    rows: sp.csr_matrix,
    targets: NDArray[np.int64] | NDArray[np.bool_],
    classes: int,
    min_texts: int,
    lexicon_feature: sp.csr_matrix | None = None,
    text_weights: NDArray[np.float64] | None = None,
) -> RatioModel:
    """Compute the log-count ratios and fit their weights.

    Args:
        rows: (texts, G) float32 matrix that is 1 / sqrt(T) where a text of T words contains an n-gram, and 0 elsewhere.
        targets: (texts,) class of each text; for multi-label texts, (texts, C) bool, True where a text has a class.
        classes: number of classes, C.
        min_texts: minimum number of texts in which an n-gram must occur.
        lexicon_feature: (texts, 1) lexicon feature of each text (see :mod:`nlptx.ngrams.lexicon`), or None.
        text_weights: (texts,) weight of each text, or None.
    """
    independent = targets.ndim == 2
    has_class = targets if independent else targets[:, None] == np.arange(classes)
    counts = np.stack([_count_texts(rows, column, text_weights) for column in has_class.T], axis=1)
    text_counts = _count_texts(rows, np.ones(rows.shape[0], bool), text_weights) if independent else None
    ratios = log_count_ratios(counts, min_texts, text_counts)
    # To save time, n-grams with the ratio 0 are left out: whatever their weights, they do not affect the outputs.
    informative = np.flatnonzero(ratios.any(axis=1))
    columns, scales = rows[:, informative], ratios[informative]
    if lexicon_feature is not None:
        columns = sp.hstack([columns, lexicon_feature], format="csr")
        scales = np.concatenate([scales, np.ones((1, ratios.shape[1]), np.float32)])
    products, bias = fit_sparse(columns, scales, targets, text_weights)
    ratio_weights = np.zeros_like(ratios)
    ratio_weights[informative] = products[: len(informative)]
    lexicon_slope = np.zeros_like(bias) if lexicon_feature is None else products[-1]
    return RatioModel(ratios, ratio_weights, bias, lexicon_slope)


def _count_texts(rows: sp.csr_matrix, chosen: NDArray[np.bool_], text_weights: NDArray[np.float64] | None) -> NDArray:
    """Return the number (or total weight) of the chosen texts that contain each n-gram, (G,)."""
    part = rows[chosen]
    entry_weights = None if text_weights is None else np.repeat(text_weights[chosen], np.diff(part.indptr))
    return np.bincount(part.indices, entry_weights, rows.shape[1])
