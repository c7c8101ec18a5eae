"""The loss of labelled texts: the loss and gradient of a microbatch, and the loss of held-out texts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.inference import network_outputs
from nlptx.classifier.model import Model
from nlptx.classifier.region_fusion import combined
from nlptx.nn import Gradients, Layout
from nlptx.runtime.workers import Workers
from nlptx.training.batching import Microbatch
from nlptx.training.dataset import Examples

# Number of texts validated at a time: only a few, because their attention weights are in memory at the same time.
VALID_BATCH = 8


def loss_and_gradients(
    model: Model,
    microbatch: Microbatch,
    grads: Gradients,
    rng: np.random.Generator | None,
    count: int,
) -> tuple[float, int, NDArray]:
    """Return the summed loss of a microbatch, the number of correct predictions, and the gradient for its word vectors.

    All gradients are derivatives of the summed loss divided by ``count``.

    Args:
        model: model that is trained.
        microbatch: some texts of the batch, with their targets and features.
        grads: gradients of the parameters, to which the gradients of the microbatch are added.
        rng: source of randomness for dropout; None for no dropout.
        count: number of texts in the batch.
    """
    layout = Layout(microbatch.lengths, model.settings.attention_window, model.settings.causal)
    outputs, cache = model.network.forward(
        model.table[microbatch.ids], layout, rng, microbatch.token_features, microbatch.text_features
    )
    loss, doutputs = model.network.loss.value_and_gradient(outputs, microbatch.targets)
    if microbatch.weights is not None:
        loss = loss * microbatch.weights
        doutputs *= microbatch.weights[:, None]
    doutputs /= count
    dx = model.network.backward(doutputs, cache, grads)
    return float(loss.sum()), int(correct_predictions(model, outputs, microbatch.targets).sum()), dx


def correct_predictions(model: Model, outputs: NDArray, targets: NDArray) -> NDArray[np.bool_]:
    """Return whether the prediction for each text is correct, (texts,), given the outputs (texts, outputs).

    Targets are class numbers (texts,); or (texts, C), for multi-label data or target probabilities.
    """
    if targets.ndim == 2 or not model.is_balanced:
        return model.network.loss.correct(outputs, targets)
    return model.decision.correct(model.choose(model.calibrated(outputs)), targets)


def validate(model: Model, examples: Examples, workers: Workers) -> tuple[float, float]:
    """Return the mean loss and the accuracy of a model over ``examples``, of which there must be at least one.

    See :func:`measure`.
    """
    return measure(model, outputs_of(model, examples, workers), examples)


def measure(model: Model, outputs: NDArray, examples: Examples) -> tuple[float, float]:
    """Return the mean loss and the accuracy over ``examples``, weighted by the text weights.

    Texts without a known word are included; for these texts, the model predicts the prior probabilities of the labels.

    Args:
        model: model whose loss and decision rule are used.
        outputs: (texts, outputs) outputs for the texts with a known word.
        examples: one or more texts.
    """
    loss_function = model.network.loss
    targets = np.concatenate([examples.targets, examples.unknown])
    of_unknown = np.tile(loss_function.outputs_for(model.priors), (len(examples.unknown), 1))
    outputs = np.concatenate([outputs.astype(np.float64), of_unknown])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # the caller checks whether the loss is finite
        loss, _ = loss_function.value_and_gradient(outputs, targets)
        correct = correct_predictions(model, outputs, targets)
    of_text = None
    if examples.weights is not None:
        of_unknown_texts = np.ones(0) if examples.unknown_weights is None else examples.unknown_weights
        of_text = np.concatenate([examples.weights, of_unknown_texts])
    return float(np.average(loss, weights=of_text)), float(np.average(correct, weights=of_text))


def outputs_of(model: Model, examples: Examples, workers: Workers) -> NDArray:
    """Return the outputs (texts, outputs) of a model for ``examples``, of which there must be at least one."""
    order = np.argsort(examples.ids.lengths, kind="stable")
    result = np.empty((len(examples), model.network.loss.outputs), model.flat.dtype)

    def work(rows: NDArray[np.int64]) -> None:
        texts = [examples.ids[row] for row in rows]
        result[rows] = combined(model.regions, network_outputs(model, texts), texts)

    for _ in workers.map(work, (order[at : at + VALID_BATCH] for at in range(0, len(order), VALID_BATCH))):
        pass
    return result
