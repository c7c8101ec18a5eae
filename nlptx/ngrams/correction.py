"""Corrects the outputs of a trained model with a logistic regression whose weights have a prior with mean 0.

A model that was trained on other texts computes the outputs z0 for a new text. The corrected outputs are

    z = z0 + b + f B + (sum of v_g / sqrt(T) over the distinct n-grams g of a text of T words)

    v_g = i_g w_g + (sum of j_c u_c over the distinct character n-grams c of g)

Here f is a vector that the network computes from the text, and i_g is the inverse document frequency of the n-gram g,
divided by the mean inverse document frequency of all n-grams; j_c is the corresponding number for the character n-gram
c. The sum in v_g is 0 if g has several words, or if the model has several outputs. The parameters b, B, w and u have
normal priors with mean 0, that is, their squares are penalised. With few new texts, the priors keep the corrected
outputs close to z0. The more new texts there are, the further the outputs can move away from z0. Words that share
character n-grams, such as "disappoint" and "disappointing", also share the parameters u of these n-grams. A new text
that contains "disappoint" therefore also changes the number v_g of "disappointing". Axis letters: see
:mod:`nlptx.ngrams`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.lbfgs import minimise
from nlptx.ngrams.feature_settings import OnProgress, step_counter
from nlptx.ngrams.logistic_regression import MAX_ITERATIONS, TOLERANCE
from nlptx.ngrams.ngram_rows import NgramRows
from nlptx.nn.losses import BinaryCrossEntropy, CrossEntropy
from nlptx.runtime.progress import counted
from nlptx.runtime.workers import Workers
from nlptx.sampling.splits import FOLDS, assign_folds, training_parts

# Prior variances of the parameters w and u. The prior variance of b and B is 1, so the influence of f depends on the
# scale of f. With several outputs, the variance of w is _NGRAM_VARIANCE_OF_SEVERAL, and u is fixed at 0, because
# character n-grams lower the log-loss on some data sets with three or more classes, and raise it on others.
_NGRAM_VARIANCE, _CHARACTER_VARIANCE, _NGRAM_VARIANCE_OF_SEVERAL = 2.0, 0.5, 10.0
# A correction from N texts is used only if it lowers the log-loss by more than (1 + _FEW_TEXTS / N) standard errors of
# this decrease. The limit is higher for few texts, because a standard error estimated from few texts is inaccurate, and
# an unnecessary correction would do much harm.
_FEW_TEXTS = 50
# Candidates for the factor by which a correction is multiplied.
_FACTORS = np.arange(21) / 20

Targets = NDArray[np.int64] | NDArray[np.bool_]


@dataclass(frozen=True)
class Correction:
    """A fitted correction of the outputs of a model.

    Args:
        ngrams: (G, E) float32 number v_g of each n-gram.
        weights: (K, E) float64 matrix B.
        bias: (E,) float64 vector b.
    """

    ngrams: NDArray[np.float32]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]

    @property
    def is_zero(self) -> bool:
        """Whether the correction leaves all outputs unchanged."""
        return not (self.ngrams.any() or self.weights.any() or self.bias.any())


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
    """Fit a correction, and compute how much the n-grams of each text change the outputs for this text (out of fold).

    Args:
        ngrams: n-grams of the N texts, followed by those of passages of these texts.
        outputs: (N, E) outputs z0 of the trained model.
        inputs: (N, K) vector f of each text.
        targets: (N,) class of each text, or (N, E), True where a text has a class.
        text_of: (N + passages,) index of the text to which each row of ``ngrams`` belongs.
        rng: source of randomness for the folds.
        workers: pool of threads or processes; its size does not change the result.
        on_progress: callback for progress; see OnProgress.
        text_weights: (N,) weight of the loss of each text, or None.
        first: (N,) for each text, the index of the first text equal to it; None if all texts are different.

    Returns:
        The correction fitted on all texts; and (N + passages, E) numbers that the n-grams in each row of ``ngrams`` add
        to the outputs. These numbers are computed with a correction that was fitted without the text of the row. The
        correction and the numbers are multiplied by a factor from 0 to 1, because a correction of a good model can
        easily be too large. The factor is chosen by comparing out-of-fold log-losses; see :func:`_best_factor`.
    """
    count = len(targets)
    folds = min(FOLDS, count)
    fold = assign_folds(targets, folds, rng, first)
    weights = np.ones(count) if text_weights is None else text_weights
    parts = training_parts(fold, folds)

    def fit(rows: NDArray[np.intp]) -> Correction:
        return _fit(ngrams, rows, outputs[rows], inputs[rows], targets[rows], weights[rows])

    on_model = step_counter("starting from the model", len(parts), on_progress, "linear models")
    final, *outside = counted(workers.map(fit, parts), on_model, already=1, every=1)
    contributions = np.zeros((len(text_of), outputs.shape[1]), np.float32)
    corrected = outputs.copy()
    for number, correction in enumerate(outside):
        rows = np.flatnonzero(fold[text_of] == number)
        contributions[rows] = ngrams.rows[rows] @ correction.ngrams
        texts = np.flatnonzero(fold == number)
        corrected[texts] += inputs[texts] @ correction.weights + correction.bias
    corrected += contributions[:count]
    factor = _best_factor(outputs, corrected - outputs, targets, weights)
    return Correction(final.ngrams * factor, final.weights * factor, final.bias * factor), contributions * factor


def _best_factor(
    outputs: NDArray[np.float64], change: NDArray[np.float64], targets: Targets, weights: NDArray[np.float64]
) -> np.float32:
    """Return the factor by which a correction is multiplied.

    The factor is 0 if the factor with the lowest log-loss does not lower the log-loss enough (see :func:`_helps`).
    Otherwise, the factor is 1 or, if a factor of 1 would raise the log-loss, the factor with the lowest log-loss. A
    factor of 1 is preferred because the factors are compared with out-of-fold corrections, and the final correction,
    which is fitted on all texts, is better than these. One reason is that neighbours in the training data are often
    similar and in the same fold, so the out-of-fold correction for a text is fitted without its similar neighbours.

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
    """Return whether the weighted mean of ``gains`` clearly exceeds its standard error; see _FEW_TEXTS.

    ``gains`` contains the decrease in the log-loss of each text, (N,).
    """
    mean = np.average(gains, weights=weights)
    variance = np.average((gains - mean) ** 2, weights=weights)
    total = weights.sum()
    return bool(mean > np.sqrt(variance / total) * (1 + _FEW_TEXTS / total))


def _fit(
    ngrams: NgramRows,
    rows: NDArray[np.intp],
    outputs: NDArray[np.float64],
    inputs: NDArray[np.float64],
    targets: Targets,
    weights: NDArray[np.float64],
) -> Correction:
    """Fit a correction on the texts in ``rows``; :func:`cross_fit_correction` describes the other arguments."""
    presence, width = ngrams.rows[rows], outputs.shape[1]
    characters, ngram_variance = ngrams.characters, _NGRAM_VARIANCE
    if width > 1:
        characters, ngram_variance = characters[:, :0], _NGRAM_VARIANCE_OF_SEVERAL
    # L-BFGS fits w and u divided by their prior standard deviations, so that it converges faster. The matrix
    # `to_ngrams`, (G, G + Q) with Q character n-grams, converts these scaled parameters (first w, then u) to the
    # numbers v.
    deviations = np.sqrt([ngram_variance, _CHARACTER_VARIANCE])
    to_ngrams = sp.hstack(
        [sp.diags(ngrams.idf) * deviations[0], characters * deviations[1]], format="csr", dtype=np.float32
    )
    presence_transposed, to_ngrams_transposed = presence.T.tocsr(), to_ngrams.T.tocsr()
    dense = np.hstack([inputs, np.ones((len(inputs), 1))])
    loss_of = partial(_log_loss, targets=targets, weights=weights)

    def parameters(flat: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        return [part.reshape(-1, width) for part in np.split(flat, [to_ngrams.shape[1] * width])]

    def loss_and_gradient(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        sparse, others = parameters(flat)
        z = outputs + presence @ (to_ngrams @ sparse.astype(np.float32)) + dense @ others
        loss, error = loss_of(z)
        sparse_gradient = to_ngrams_transposed @ (presence_transposed @ error.astype(np.float32))
        gradient = np.concatenate([sparse_gradient.ravel(), (dense.T @ error).ravel()])
        return loss + float(flat @ flat) / 2, gradient + flat

    start = np.zeros((to_ngrams.shape[1] + dense.shape[1]) * width)
    solution = minimise(loss_and_gradient, start, TOLERANCE, MAX_ITERATIONS)
    sparse, others = parameters(solution)
    return Correction(to_ngrams @ sparse.astype(np.float32), others[:-1], others[-1])


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
