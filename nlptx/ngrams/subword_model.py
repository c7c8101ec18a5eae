"""The subword model: a logistic regression on n-grams, in which words share the parameters of their character n-grams.

The score of a text of T words is

    z = b + (sum of v_g / sqrt(T) over the distinct n-grams g of the text)

    v_g = i_g w_g + (sum of j_c u_c over the distinct character n-grams c of g, if g is a single word)

where i_g and j_c are inverse document frequencies (:mod:`nlptx.ngrams.ngram_rows`). The parameters w and u have normal
priors with mean 0, that is, their squares are penalised; cross-validation chooses the variance. Words such as
"disappoint" and "disappointing" share most of the parameters u, so the texts that contain one of them also influence
the number v of the other. Once the model is fitted, only the numbers v are needed. Axis letters: see
:mod:`nlptx.ngrams`.

Source: Bojanowski et al. (2017), "Enriching word vectors with subword information", who add up the vectors of the
character n-grams of a word. In the subword model, a single number u_c takes the place of the vector of the character
n-gram c, and each word g has a number w_g in addition.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.logistic_regression import MAX_ITERATIONS, text_losses, weighted
from nlptx.ngrams.ngram_rows import NgramRows
from nlptx.ngrams.span_lbfgs import minimise_in_span
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers

# Prior variance of a parameter u, divided by that of a parameter w.
_CHARACTER_VARIANCE_RATIO = 0.25
# Candidates for the prior variance of a parameter w, and the minimum number of texts on which each candidate is tested.
# Only as many folds are used for testing as are needed to reach this number.
_VARIANCES, _TESTED = (1.0, 5.0, 20.0), 600
# L-BFGS stops when the next step is expected to decrease the loss by at most this fraction of its value. A lower
# tolerance takes up to twice the time, and does not make the model better.
_TOLERANCE = 1e-4


class SubwordModel(NamedTuple):
    """A fitted subword model.

    Args:
        ngrams: (G, E) float32 number v_g of each n-gram.
        bias: (E,) float32 bias b.
        variance: prior variance of the parameters w.
    """

    ngrams: NDArray[np.float32]
    bias: NDArray[np.float32]
    variance: float

    def scores(self, rows: sp.csr_matrix) -> NDArray[np.float32]:
        """Return the scores (texts, E) of texts, given their rows (texts, G) as in :class:`NgramRows`."""
        return rows @ self.ngrams + self.bias


def fit_subword_model(
    ngrams: NgramRows,
    targets: NDArray[np.int64] | NDArray[np.bool_],
    width: int,
    fold: NDArray[np.intp],
    workers: Workers,
    text_weights: NDArray[np.float64] | None = None,
    on_progress: Callable[[float], None] = lambda fraction: None,
) -> SubwordModel:
    """Fit a subword model with the prior variance that has the lowest out-of-fold log-loss.

    Args:
        ngrams: n-grams of the texts; rows after those of the N labelled texts are not used.
        targets: (N,) class of each text, or (N, E), True where a text has a class.
        width: E, the number of scores per text. A single score is the log-odds of the second of two classes.
        fold: (N,) fold of each text.
        workers: pool of threads or processes; its size does not change the result.
        text_weights: (N,) weight of the loss of each text, or None.
        on_progress: called with the fraction of the work that is done.
    """

    def fit(variance: float, texts: NDArray[np.intp]) -> SubwordModel:
        weights = None if text_weights is None else text_weights[texts]
        return _fit(ngrams.of_texts(texts), targets[texts], width, variance, weights)

    def out_of_fold_loss(task: tuple[float, int]) -> float:
        variance, number = task
        others, texts = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        losses, _ = text_losses(width, targets)(fit(variance, others).scores(ngrams.rows[texts]), targets[texts])
        return float(losses.sum() if text_weights is None else losses @ text_weights[texts])

    sizes = np.bincount(fold)
    numbers = range(min(int(np.searchsorted(sizes.cumsum(), _TESTED)) + 1, len(sizes)))
    tasks = [(variance, number) for variance in _VARIANCES for number in numbers]
    done = counted(workers.map(out_of_fold_loss, tasks), lambda number: on_progress(number / (len(tasks) + 1)), every=1)
    losses = np.reshape(list(done), (len(_VARIANCES), -1)).sum(axis=1)
    return fit(_VARIANCES[int(losses.argmin())], np.arange(len(targets)))


def _fit(
    ngrams: NgramRows,
    targets: NDArray[np.int64] | NDArray[np.bool_],
    width: int,
    variance: float,
    text_weights: NDArray[np.float64] | None,
) -> SubwordModel:
    """Fit a subword model with the given prior variance of w; :func:`fit_subword_model` describes the arguments."""
    rows, rows_transposed, characters_transposed = ngrams.rows, ngrams.rows.T.tocsr(), ngrams.characters.T.tocsr()
    squares = (ngrams.idf * ngrams.idf)[:, None]

    def numbers(coefficients: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return v (G, E), given the coefficients a (N, E) from which w and u are computed as in :mod:`.span_lbfgs`."""
        sums = rows_transposed @ coefficients.astype(np.float32)
        return sums * squares + ngrams.characters @ (_CHARACTER_VARIANCE_RATIO * (characters_transposed @ sums))

    coefficients, bias = minimise_in_span(
        lambda coefficients: rows @ numbers(coefficients),
        weighted(text_losses(width, targets), targets, text_weights),
        (len(targets), width),
        variance,
        _TOLERANCE,
        MAX_ITERATIONS,
    )
    return SubwordModel(numbers(coefficients), bias.astype(np.float32), variance)
