"""Combines the outputs of the linear n-gram models in a weighted sum, whose weights are fitted.

With the outputs x_nmc of model m for text n and class c, the outputs of the classifier are

    z_nc = b_c + sum_m a_m x_nmc.

The weights a_m >= 0 and the biases b_c minimise the sum of two terms. The first term is the sum of the losses of the
training texts, with n-gram features fitted out of fold. The second term is a prior: half of the sum of (a_m - 1/M)^2
over the M linear models. The prior matters only for a small training set, in which the features may, by chance,
separate the classes perfectly or indicate the wrong class.

With ``--epochs 0``, no network is trained, and the outputs are the sums z_nc. The classifier still has a network,
so that it can be used like any other classifier, but the encoder has no blocks, and all parameters are 0, except a_m
and b_c.

If a network is trained on few texts, its training starts from the fitted a_m and b_c, with a head whose weights are 0.
The outputs before the first step are therefore the sums z_nc. With a random head, the first outputs would be worse, and
few texts give the network only a few steps to improve them. With many texts, training starts from a_m = 1/M and a
random head, which is better because it leaves more for the network to learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.errors import DataError
from nlptx.lbfgs import minimise_above
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset, Examples
from nlptx.training.loss import correct_predictions
from nlptx.training.without_epochs import history_without_epochs

# Number of folds for the out-of-fold n-gram features of a large and of a small training set, and maximum number of
# texts in a small training set. With a large training set, two folds take little time, and the features are accurate
# enough for fitting one weight per linear model and one bias per output. With a small training set and two folds, the
# models would be too weak, because each would be fitted on half of the texts.
_FOLDS, _FOLDS_FOR_FEW, _FEW_TEXTS = 2, 5, 10_000
# With fewer texts than this number, the training of a network starts from the fitted weights instead of random ones.
_MIN_TEXTS_FOR_RANDOM_START = 2000
# Number of texts whose outputs are in memory at the same time.
_TEXTS_AT_A_TIME = 1 << 17


def number_of_folds(texts: int) -> int:
    """Return the number of folds for computing the n-gram features of the training texts out of fold."""
    return _FOLDS if texts > _FEW_TEXTS else _FOLDS_FOR_FEW


def combine_linear_models(model: Model, data: Dataset, context: TrainingContext) -> dict[str, Any]:
    """Fit the weights and biases on the training texts. Return the training history to store in the model.

    Args:
        model: untrained model; modified in place.
        data: training texts with n-gram features, and validation texts.
        context: workers and callbacks.

    Raises:
        DataError: n-gram features cannot be computed for this data.
    """
    if model.ngram_features is None or data.train.ngram_features is None:
        raise DataError(
            "a model without a network needs n-gram features, which cannot be computed for this data",
            hint="Use more texts, so that at least two labels have two texts or more; if a note says that there are too"
            " many words, set a higher `new_word_min_count`.",
        )
    context.report("combining linear models", 0)
    for name, parameter in model.network.parameters():
        if not name.startswith("text_projection."):
            parameter.value[...] = 0
    loss, accuracy = _fit(model, data.train)
    history = history_without_epochs(model, data, context, loss=loss, accuracy=accuracy)
    context.report("combining linear models", 1)
    return history


def start_from_linear_models(model: Model, train: Examples) -> None:
    """Set the parameters of an untrained model so that its outputs are those of the linear models.

    Do nothing if there are many texts, or if there are no n-gram features.
    """
    few = len(train.texts()) < _MIN_TEXTS_FOR_RANDOM_START
    if few and train.ngram_features is not None:
        _fit(model, train)
        model.network.head.weight.value[...] = 0


def _fit(model: Model, train: Examples) -> tuple[float, float]:
    """Fit a_m and b_c. Return the out-of-fold loss and accuracy on the training texts."""
    network, features = model.network, train.ngram_features
    projection, bias = network.text_projection, network.head.bias
    if projection is None or features is None or bias is None or model.ngram_features is None:
        raise ValueError("the model has no n-gram features")
    models = model.ngram_features.models
    text_features = features.text_features()
    weights = np.ones(len(train)) if train.weights is None else train.weights
    total_weight = weights.sum()
    blocks = [slice(start, start + _TEXTS_AT_A_TIME) for start in range(0, len(train), _TEXTS_AT_A_TIME)]
    width = network.loss.outputs

    def outputs_for(parameters: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.tensordot(parameters[:models], x, 1) + parameters[models:]  # (texts, outputs)

    def loss_and_gradient(parameters: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, gradient = 0.0, np.zeros(models + width)
        for rows in blocks:
            x = _outputs_of_each(model, text_features[rows], models)
            losses, dz = network.loss.value_and_gradient(outputs_for(parameters, x), train.targets[rows])
            dz = dz * (weights[rows] / total_weight)[:, None]
            total += float(losses @ weights[rows])
            gradient += np.append((x * dz).sum(axis=(1, 2)), dz.sum(axis=0))
        excess = parameters - start
        excess[models:] = 0
        return (total + float(excess @ excess) / 2) / total_weight, gradient + excess / total_weight

    start = np.append(np.full(models, 1 / models), np.zeros(width))
    lower = np.append(np.zeros(models), np.full(width, -np.inf))
    fitted = minimise_above(loss_and_gradient, start, lower)
    loss = accuracy = 0.0
    for rows in blocks:
        z = outputs_for(fitted, _outputs_of_each(model, text_features[rows], models))
        losses, _ = network.loss.value_and_gradient(z, train.targets[rows])
        loss += float(losses @ weights[rows] / total_weight)
        accuracy += float(correct_predictions(model, z, train.targets[rows]) @ weights[rows] / total_weight)
    # The untrained projection gives each of the linear models a weight of 1 / models, hence the last factor.
    projection.weight.value.reshape(models, -1)[...] *= fitted[:models, None] * models
    bias.value[...] = fitted[models:]
    return loss, accuracy


def _outputs_of_each(model: Model, text_features: NDArray[np.float32], models: int) -> NDArray[np.float64]:
    """Return (M, texts, outputs), the outputs of each linear model for the text features (texts, M * E)."""
    projection = model.network.text_projection
    if projection is None:
        raise ValueError("the model has no n-gram features")
    width = text_features.shape[1] // models
    parts = []
    for number in range(models):
        alone = np.zeros_like(text_features)
        columns = slice(number * width, (number + 1) * width)
        alone[:, columns] = text_features[:, columns]
        parts.append(projection.forward(alone)[0] * models)
    return np.stack(parts).astype(np.float64)
