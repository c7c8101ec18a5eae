"""Corrects the outputs of a trained model by a logistic regression whose weights have a prior with mean 0.

Let z0 be the outputs that a model, trained on other texts, computes for a new text. The corrected outputs are

    z = z0 + b + f B + (sum of w_g i_g / sqrt(T) over the distinct n-grams g of a text of T words)

Here f is a vector that the network computes from the text, and i_g is the inverse document frequency of the n-gram g,
divided by the mean inverse document frequency of all n-grams. The parameters b, B and w have normal priors with mean 0,
that is, their squares are penalised. With few new texts, the priors keep the corrected outputs close to z0. The more
new texts there are, the further the outputs can move away from z0. Axis letters: see :mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.ngrams.feature_settings import OnProgress, step_counter
from nlptx.ngrams.occurrences import count_occurrences, divide_by_root, ngrams_of_texts, presence_matrix, words_of
from nlptx.nn.losses import BinaryCrossEntropy, CrossEntropy
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers
from nlptx.sampling.splits import FOLDS, assign_folds, training_parts

# Prior variance of the weights w. The prior variance of b and B is 1, so the influence of f depends on its scale.
_NGRAM_VARIANCE = 10.0
_MAX_ITERATIONS = 100
# Candidates for the factor by which a correction is multiplied.
_FACTORS = np.arange(21) / 20

Targets = NDArray[np.int64] | NDArray[np.bool_]


@dataclass(frozen=True)
class Correction:
    """A fitted correction of the outputs of a model.

    Args:
        products: (G, E) float32 product w_g i_g of each n-gram.
        weights: (K, E) float64 matrix B.
        bias: (E,) float64 vector b.
    """

    products: NDArray[np.float32]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]

    @property
    def is_zero(self) -> bool:
        """Whether the correction leaves all outputs unchanged."""
        return not (self.products.any() or self.weights.any() or self.bias.any())


@dataclass(frozen=True)
class NgramRows:
    """The n-grams of a set of texts.

    Args:
        keys: (G,) int64 keys of the n-grams, sorted.
        rows: (texts, G) float32 matrix that is 1 / sqrt(T) where a text of T words contains an n-gram, and 0 elsewhere.
        importance: (G,) float32 inverse document frequencies i_g, divided by their mean.
    """

    keys: NDArray[np.int64]
    rows: sp.csr_matrix
    importance: NDArray[np.float32]


def ngram_rows(
    texts: Sequence[NDArray[np.integer]],
    num_counted: int,
    order: int,
    words: int,
    min_texts: int,
    text_weights: NDArray[np.float64] | None = None,
) -> NgramRows:
    """Return the n-grams in at least ``min_texts`` of the first ``num_counted`` texts, with rows for all texts.

    Args:
        texts: word ids (T,) of each text.
        num_counted: n-grams are counted only in this many texts, from the start of ``texts``. The texts after them,
            such as passages, get rows, but their n-grams are not counted.
        order: length of the longest n-gram; 0 for no n-grams.
        words: vocabulary size V.
        min_texts: minimum number of texts in which an n-gram must occur.
        text_weights: (num_counted,) weight of each counted text, or None. A text with the weight 2 counts as two texts.
    """
    first, more = ngrams_of_texts(texts[:num_counted], order, words), ngrams_of_texts(texts[num_counted:], order, words)
    known, text_counts = count_occurrences(first, text_weights)
    known, text_counts = known[text_counts >= min_texts], text_counts[text_counts >= min_texts]
    total = num_counted if text_weights is None else text_weights.sum()
    importance = np.log((total + 1) / (text_counts + 1)) + 1
    importance = (importance / importance.mean() if len(known) else importance).astype(np.float32)
    rows = divide_by_root(presence_matrix(first + more, known), words_of(texts))
    return NgramRows(known, rows, importance)


def cross_fit_correction(
    ngrams: NgramRows,
    outputs: NDArray[np.float64],
    inputs: NDArray[np.float64],
    targets: Targets,
    text_of: NDArray[np.intp],
    rng: np.random.Generator,
    workers: Workers,
    on_progress: OnProgress,
    text_weights: NDArray[np.float64] | None = None,
    first: NDArray[np.int64] | None = None,
) -> tuple[Correction, NDArray[np.float32]]:
    """Fit a correction, and compute out of fold how its n-grams change the outputs for each text.

    Args:
        ngrams: n-grams of the N texts and of passages of these texts.
        outputs: (N, E) outputs z0 of the trained model.
        inputs: (N, K) vector f of each text.
        targets: (N,) class of each text, or (N, E), True where a text has a class.
        text_of: (N + passages,) index of the text to which each row of ``ngrams`` belongs.
        rng: source of randomness for the folds.
        workers: pool of threads or processes; its size does not change the result.
        on_progress: callback for progress; see OnProgress.
        text_weights: (N,) weight of the loss of each text, or None.
        first: (N,) index of the first text that is equal to each text; None if all texts are different.

    Returns:
        The correction fitted on all texts; and, for each row of ``ngrams``, the contribution of its n-grams to the
        outputs, (N + passages, E). This contribution comes from a correction that was fitted without the text of the
        row. Both results are multiplied by a factor from 0 to 1, because a correction of a good model can easily be too
        large. The factor is chosen by comparing out-of-fold log-losses; see :func:`_best_factor`.
    """
    count = len(targets)
    folds = min(FOLDS, count)
    fold = assign_folds(targets, folds, rng, first)
    weights = np.ones(count) if text_weights is None else text_weights
    parts = training_parts(fold, folds)

    def fit(rows: NDArray[np.intp]) -> Correction:
        return _fit(ngrams.rows[rows], ngrams.importance, outputs[rows], inputs[rows], targets[rows], weights[rows])

    on_model = step_counter("starting from the model", len(parts), on_progress, "linear models")
    final, *outside = counted(workers.map(fit, parts), on_model, already=1, every=1)
    contributions = np.zeros((len(text_of), outputs.shape[1]), np.float32)
    corrected = outputs.copy()
    for number, correction in enumerate(outside):
        rows = np.flatnonzero(fold[text_of] == number)
        contributions[rows] = ngrams.rows[rows] @ correction.products
        texts = np.flatnonzero(fold == number)
        corrected[texts] += inputs[texts] @ correction.weights + correction.bias
    corrected += contributions[:count]
    factor = _best_factor(outputs, corrected - outputs, targets, weights)
    return Correction(final.products * factor, final.weights * factor, final.bias * factor), contributions * factor


def _best_factor(
    outputs: NDArray[np.float64], change: NDArray[np.float64], targets: Targets, weights: NDArray[np.float64]
) -> np.float32:
    """Return the factor by which a correction is multiplied.

    The factor is 0 if no factor lowers the log-loss by more than the standard error of the difference. Otherwise it is
    1 or, if a factor of 1 would raise the log-loss, the factor with the lowest log-loss. A factor of 1 is preferred
    because the final correction, which is fitted on all texts, is better than the out-of-fold corrections by which the
    factors are compared. The out-of-fold correction for a text is fitted without the texts next to it in the training
    data, which are often similar to it.

    Args:
        outputs: (N, E) outputs without the correction.
        change: (N, E) numbers that the out-of-fold corrections add to the outputs if the factor is 1.
        targets: class or classes of each text, as for :func:`cross_fit_correction`.
        weights: (N,) weight of each text.
    """
    losses = [_log_losses(outputs + factor * change, targets) for factor in _FACTORS]
    means = [float(np.average(loss, weights=weights)) for loss in losses]
    best = int(np.argmin(means))
    if not _helps(losses[0] - losses[best], weights):
        return np.float32(0)
    return np.float32(1 if means[-1] <= means[0] else _FACTORS[best])


def _helps(gains: NDArray[np.float64], weights: NDArray[np.float64]) -> bool:
    """Return whether the weighted mean of the gains (N,) exceeds its standard error."""
    mean = np.average(gains, weights=weights)
    variance = np.average((gains - mean) ** 2, weights=weights)
    return bool(mean > np.sqrt(variance / weights.sum()))


def _fit(
    rows: sp.csr_matrix,
    importance: NDArray[np.float32],
    outputs: NDArray[np.float64],
    inputs: NDArray[np.float64],
    targets: Targets,
    weights: NDArray[np.float64],
) -> Correction:
    """Fit a correction; :func:`cross_fit_correction` describes the arguments."""
    from scipy.optimize import minimize  # slow to import, so imported only when needed

    (_, grams), width, scale = rows.shape, outputs.shape[1], importance[:, None]
    transposed = rows.T.tocsr()
    dense = np.hstack([inputs, np.ones((len(inputs), 1))])
    variance = np.repeat([_NGRAM_VARIANCE, 1.0], [grams * width, dense.shape[1] * width])
    loss_of = partial(_log_loss, targets=targets, weights=weights)

    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        ngram_weights = flat[: grams * width].reshape(grams, width)
        others = flat[grams * width :].reshape(-1, width)
        loss, error = loss_of(outputs + rows @ (ngram_weights * scale).astype(np.float32) + dense @ others)
        ngram_gradient = (transposed @ error.astype(np.float32)) * scale
        gradient = np.concatenate([ngram_gradient.ravel(), (dense.T @ error).ravel()])
        return loss + float(flat @ (flat / variance)) / 2, gradient + flat / variance

    found = minimize(
        loss_and_gradient,
        np.zeros(len(variance)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITERATIONS},
    ).x
    products = found[: grams * width].reshape(grams, width) * scale
    others = found[grams * width :].reshape(-1, width)
    return Correction(products.astype(np.float32), others[:-1], others[-1])


def _log_loss(
    z: NDArray[np.float64], targets: Targets, weights: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the weighted sum of the log-losses for outputs (B, E), and its gradient; E = 1 means two classes."""
    losses, gradient = _losses_and_gradient(z, targets)
    return float(losses @ weights), gradient[:, -z.shape[1] :] * weights[:, None]


def _log_losses(z: NDArray[np.float64], targets: Targets) -> NDArray[np.float64]:
    """Return the log-loss of each text, (B,), for outputs (B, E)."""
    return np.asarray(_losses_and_gradient(z, targets)[0], np.float64)


def _losses_and_gradient(z: NDArray[np.float64], targets: Targets) -> tuple[NDArray, NDArray]:
    if targets.ndim == 2:
        return BinaryCrossEntropy(z.shape[1]).value_and_gradient(z, targets)
    return CrossEntropy(max(z.shape[1], 2)).value_and_gradient(_scores(z), targets)


def _scores(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one score per class. If z has only one column, it contains the log-odds of the second of two classes."""
    return np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z
