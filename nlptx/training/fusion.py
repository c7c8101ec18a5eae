"""Combines the outputs of classifiers that were trained separately, with weights that are fitted on held-out texts.

The combined outputs are the sum of w_m z_m over the classifiers m, where z_m are the outputs of classifier m. The
weights w_m, which are at least 0.01, minimise

    sum_n l_n + sum_m (w_m - W_m)^2 / (2 S^2),

where l_n is the loss of the combined outputs for the held-out text n, multiplied by the weight of the text, and W_m and
S are constants. Without held-out texts, w_m = W_m; the more held-out texts there are, the less W_m matters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.lbfgs import minimise_above
from nlptx.nn.losses import Loss
from nlptx.training.dataset import Examples
from nlptx.training.loss import measure
from nlptx.training.targets import Targets

# Minimum weight, which is above 0 so that weights can be divided by each other.
_MIN_WEIGHT = 0.01


def fuse(
    model: Model, outputs_by_loss: dict[str, NDArray], valid: Examples, prior: NDArray[np.float64], deviation: float
) -> tuple[tuple[float, ...], dict[str, float]]:
    """Fit the weights of the classifiers, and measure each classifier and their combination on the held-out texts.

    Args:
        model: model whose loss and decision rule are used.
        outputs_by_loss: for each classifier, the name of its loss in the record -> its outputs (texts, outputs) for the
            held-out texts; empty if no texts are held out.
        valid: the held-out texts.
        prior: (M,) the constants W.
        deviation: the constant S.

    Returns:
        The weights, rounded to four decimal places as in a model file, and the record of the measurements. The record
        contains the loss of the combination (``valid_loss``) and of each classifier, and the accuracy of the
        combination. If no texts are held out, the record is empty.
    """
    if not outputs_by_loss:
        return _rounded(prior), {}
    outputs = np.stack(list(outputs_by_loss.values())).astype(np.float64)
    weights = _fit(model.network.loss, outputs, valid.targets, valid.weights, prior, deviation)
    record = {name: measure(model, each, valid)[0] for name, each in outputs_by_loss.items()}
    record["valid_loss"], record["valid_accuracy"] = measure(model, np.tensordot(weights, outputs, 1), valid)
    return weights, {name: round(value, 5) for name, value in record.items()}


def _fit(
    loss: Loss,
    outputs: NDArray[np.float64],
    targets: Targets,
    text_weights: NDArray[np.float64] | None,
    prior: NDArray[np.float64],
    deviation: float,
) -> tuple[float, ...]:
    """Return the weights, given the outputs (M, texts, outputs); :func:`fuse` describes the other arguments."""

    def loss_and_gradient(chosen: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        losses, dz = loss.value_and_gradient(np.tensordot(chosen, outputs, 1), targets)
        if text_weights is not None:
            losses, dz = losses * text_weights, dz * text_weights[:, None]
        off = (chosen - prior) / deviation**2
        return float(losses.sum() + off @ (chosen - prior) / 2), (outputs * dz).sum(axis=(1, 2)) + off

    return _rounded(minimise_above(loss_and_gradient, prior, np.full(len(prior), _MIN_WEIGHT)))


def _rounded(weights: NDArray[np.float64]) -> tuple[float, ...]:
    return tuple(round(weight, 4) for weight in weights.tolist())
