"""The loss of labelled texts: of a share with its gradient, and of held-out texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.inference import network_outputs
from nlptx.classifier.model import Model
from nlptx.nn import Gradients, Layout
from nlptx.runtime.workers import Workers
from nlptx.training.batching import Microbatch
from nlptx.training.dataset import Examples

# Texts validated at a time; few, as the attention weights of all of them are held.
VALID_BATCH = 8


def balanced_weights(targets: NDArray[np.int64], classes: int) -> NDArray[np.float32]:
    """Return (C,) weights n / (C n_c) of the n_c texts of each class among n: all classes weigh the same in a sum.

    A class without a text gets 0.
    """
    counts = np.bincount(targets, minlength=classes)
    weights = np.divide(len(targets), classes * counts, out=np.zeros(classes), where=counts > 0)
    return weights.astype(np.float32)


def classify(
    model: Model,
    microbatch: Microbatch,
    grads: Gradients,
    rng: np.random.Generator | None,
    count: int,
    weights: NDArray[np.float32] | None = None,
) -> tuple[float, int, NDArray]:
    """Return loss, hits and word-vector gradient of a share; the gradients are of the mean over ``count`` texts.

    Args:
        model: whose loss it is.
        microbatch: of a batch.
        grads: gradients to add to.
        rng: for dropout.
        count: texts in the batch.
        weights: (C,) of the classes, or None.
    """
    layout = Layout(microbatch.lengths, model.settings.attention_window, model.settings.causal)
    outputs, cache = model.network.forward(
        model.table[microbatch.ids], layout, rng, microbatch.token_features, microbatch.text_features
    )
    loss, doutputs = model.network.loss.value_and_gradient(outputs, microbatch.targets)
    if weights is not None:
        loss = loss * weights[microbatch.targets]
        doutputs *= weights[microbatch.targets, None]
    doutputs /= count
    dx = model.network.backward(doutputs, cache, grads)
    guessed = model.network.loss.probabilities(outputs).argmax(axis=1)
    wanted = microbatch.targets if microbatch.targets.ndim == 1 else microbatch.targets.argmax(axis=1)
    return float(loss.sum()), int((guessed == wanted).sum()), dx


def validate(
    model: Model, examples: Examples, workers: Workers, weights: NDArray[np.float32] | None = None
) -> tuple[float, float]:
    """Return mean loss and accuracy over at least one example; ``weights`` as in :func:`classify`.

    Texts without a known word count too, with the priors, which are what the model answers there.
    """
    unknown = np.tile(model.network.loss.outputs_for(model.priors), (len(examples.unknown), 1))
    outputs = np.concatenate([outputs_of(model, examples, workers).astype(np.float64), unknown])
    targets = np.concatenate([examples.targets, examples.unknown])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # the caller looks at the loss
        loss, _ = model.network.loss.value_and_gradient(outputs, targets)
        guessed = model.network.loss.probabilities(outputs).argmax(axis=1)
    if weights is not None:
        loss = loss * weights[targets]
    return float(loss.mean()), float((guessed == targets).mean())


def outputs_of(model: Model, examples: Examples, workers: Workers) -> NDArray:
    """Return the outputs (texts, outputs) for at least one example."""
    order = np.argsort([len(ids) for ids in examples.ids], kind="stable")
    result = np.empty((len(examples), model.network.loss.outputs), model.flat.dtype)

    def work(rows: NDArray[np.int64]) -> None:
        result[rows] = network_outputs(model, [examples.ids[row] for row in rows])

    for _ in workers.map(work, _slices(order)):
        pass
    return result


def _slices(order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(order), VALID_BATCH):
        yield order[start : start + VALID_BATCH]
