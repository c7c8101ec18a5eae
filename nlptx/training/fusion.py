"""Combines the outputs of classifiers that were trained separately, with weights that are fitted on held-out texts.

The combined outputs are the sum of w_m z_m over the classifiers m, where z_m are the outputs of classifier m. With the
log-losses l_n of the held-out texts and constants W_m and S, the weights w_m > 0 minimise

    sum_n l_n + sum_m (w_m - W_m)^2 / (2 S^2).

So w_m = W_m if there are no held-out texts, and the texts determine the weights if there are many.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.training.dataset import Examples
from nlptx.training.loss import balanced_weights

# Minimum weight. It is above 0 so that weights can be divided by each other.
_MIN_WEIGHT = 0.01


def fit_fusion(
    model: Model, members: NDArray[np.float64], valid: Examples, prior: NDArray[np.float64], deviation: float
) -> tuple[float, ...]:
    """Return the weight of each classifier, rounded by :func:`rounded_weights`.

    Args:
        model: model whose loss is minimised, with class weights if it is balanced.
        members: (M, texts, outputs) outputs of each classifier for the held-out texts.
        valid: the held-out texts.
        prior: (M,) the constants W.
        deviation: the constant S.
    """
    from scipy.optimize import minimize  # slow to import, so imported only when needed

    weights = loss_weights(model, valid)

    def loss_and_gradient(chosen: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        losses, dz = model.network.loss.value_and_gradient(np.tensordot(chosen, members, 1), valid.targets)
        if weights is not None:
            losses, dz = losses * weights, dz * weights[:, None]
        off = (chosen - prior) / deviation**2
        return float(losses.sum() + off @ (chosen - prior) / 2), (members * dz).sum(axis=(1, 2)) + off

    bounds = [(_MIN_WEIGHT, None)] * len(prior)
    return rounded_weights(minimize(loss_and_gradient, prior, jac=True, method="L-BFGS-B", bounds=bounds).x)


def rounded_weights(weights: NDArray[np.float64]) -> tuple[float, ...]:
    """Return weights rounded to four digits after the decimal point, as they are stored."""
    return tuple(round(weight, 4) for weight in weights.tolist())


def loss_weights(model: Model, texts: Examples) -> NDArray[np.float64] | None:
    """Return the weight (texts,) of each text in the loss, or None if all weights are 1."""
    if not model.is_balanced:
        return texts.weights
    of_class = balanced_weights(texts.targets, len(model.labels), texts.weights)[texts.targets].astype(np.float64)
    return of_class if texts.weights is None else texts.weights * of_class


def measures(model: Model, outputs: dict[str, NDArray], combined: str, valid: Examples) -> dict[str, float]:
    """Return the loss of each set of outputs on the held-out texts, and the accuracy of the combined outputs.

    Args:
        model: model whose loss is measured.
        outputs: (texts, outputs) arrays; the keys are those of the result.
        combined: key of the combined outputs.
        valid: the held-out texts.
    """
    loss, of_loss = model.network.loss, loss_weights(model, valid)
    losses = {
        name: np.average(loss.value_and_gradient(z, valid.targets)[0], weights=of_loss) for name, z in outputs.items()
    }
    accuracy = np.average(loss.correct(outputs[combined], valid.targets), weights=valid.weights)
    return {name: round(float(value), 5) for name, value in (losses | {"valid_accuracy": accuracy}).items()}
