"""The first linear model of the n-gram features: a logistic regression on the log-count ratios.

If the data has both short and long texts, n-grams get additional weights for short texts, because a sentence uses other
words than a long review, and uses them in other ways. This is domain adaptation by feature augmentation (Daumé,
"Frustratingly easy domain adaptation", 2007), with length as the domain: a feature of a short text occurs twice, once
with a weight for all texts and once with a weight for short texts. The penalty keeps the second weight small where the
first one suffices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.logistic_regression import fit_linear
from nlptx.ngrams.naive_bayes import feature_width, log_count_ratios

# Short texts have weights of their own if short and long texts are at least this fraction of the texts, and this many.
_MIN_FRACTION, _MIN_TEXTS = 0.1, 1000
# Prior standard deviation of the slope of the lexicon, relative to those of the n-gram ratios: nearly free.
_LEXICON_SCALE = 10.0


@dataclass(frozen=True)
class RatioModel:
    """The fitted model.

    Args:
        ratios: (G, E) float32 log-count ratios.
        slopes: (G, E) float32 weights of the n-grams.
        short_slopes: (G, E) float32 weights that are added in short texts, or None.
        lexicon_slope: (E,) float32 weight of the lexicon; zeros without a lexicon.
        bias: (E,) float32 bias.
    """

    ratios: NDArray[np.float32]
    slopes: NDArray[np.float32]
    short_slopes: NDArray[np.float32] | None
    lexicon_slope: NDArray[np.float32]
    bias: NDArray[np.float32]


def need_short_slopes(is_short: NDArray[np.bool_]) -> bool:
    """Return whether there are enough short and enough long texts, given for each text whether it is short."""
    smaller = min(np.count_nonzero(is_short), np.count_nonzero(~is_short))
    return bool(smaller >= max(_MIN_TEXTS, _MIN_FRACTION * len(is_short)))


def fit_ratio_model(
    rows: sp.csr_matrix,
    targets: NDArray[np.int64],
    classes: int,
    min_texts: int,
    is_short: NDArray[np.bool_] | None = None,
    of_lexicon: sp.csr_matrix | None = None,
    text_weights: NDArray[np.float64] | None = None,
    on_iteration: Callable[[], None] = lambda: None,
) -> RatioModel:
    """Compute the ratios and fit their weights.

    Args:
        rows: (texts, G) float32 matrix that is 1 / sqrt(T) where a text contains an n-gram and 0 elsewhere.
        targets: (texts,) class of each text.
        classes: C.
        min_texts: minimum number of texts that an n-gram must occur in.
        is_short: (texts,) whether each text is short; None if short texts have no weights of their own.
        of_lexicon: (texts, 1) feature of the lexicon, or None.
        text_weights: (texts,) weight of each text, or None.
        on_iteration: callback after each iteration of the fit.
    """
    width = feature_width(classes)
    ratios = _ratios(rows, targets, classes, min_texts, text_weights)
    parts = [(rows, ratios)]
    if is_short is not None:
        short_rows = sp.csr_matrix(sp.diags(is_short.astype(np.float32)) @ rows)
        short_rows.eliminate_zeros()
        parts.append((short_rows, _ratios(short_rows, targets, classes, min_texts, text_weights)))
    # Leave out n-grams without a ratio to save time; their weights would remain 0.
    informative = [np.flatnonzero(part.any(axis=1)) for _, part in parts]
    columns = [part[:, kept] for (part, _), kept in zip(parts, informative, strict=True)]
    scales = [part[kept] for (_, part), kept in zip(parts, informative, strict=True)]
    if of_lexicon is not None:
        columns.append(of_lexicon)
        scales.append(np.full((1, width), _LEXICON_SCALE, np.float32))
    joined = columns[0] if len(columns) == 1 else sp.hstack(columns, format="csr")
    products, bias = fit_linear(joined, np.concatenate(scales), targets, on_iteration, text_weights)
    fitted = np.split(products, np.cumsum([len(part) for part in scales[:-1]]))
    slopes = [np.zeros_like(part) for _, part in parts]
    for spread, kept, values in zip(slopes, informative, fitted, strict=False):
        spread[kept] = values
    lexicon_slope = np.zeros(width, np.float32) if of_lexicon is None else fitted[-1][0]
    return RatioModel(ratios, slopes[0], slopes[1] if len(slopes) > 1 else None, lexicon_slope, bias)


def _ratios(
    rows: sp.csr_matrix,
    targets: NDArray[np.int64],
    classes: int,
    min_texts: int,
    text_weights: NDArray[np.float64] | None,
) -> NDArray[np.float32]:
    """Return the log-count ratios (G, E) of the n-grams."""
    counts = [_count_texts(rows, targets == number, text_weights) for number in range(classes)]
    return log_count_ratios(np.stack(counts, axis=1), min_texts)


def _count_texts(rows: sp.csr_matrix, chosen: NDArray[np.bool_], text_weights: NDArray[np.float64] | None) -> NDArray:
    """Return, for each n-gram, the number of chosen texts that contain it, or the sum of their weights; shape (G,)."""
    part = rows[chosen]
    of_entry = None if text_weights is None else np.repeat(text_weights[chosen], np.diff(part.indptr))
    return np.bincount(part.indices, of_entry, rows.shape[1])
