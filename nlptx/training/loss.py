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


def balanced_weights(
    targets: NDArray[np.int64], classes: int, sample_weights: NDArray[np.float64] | None = None
) -> NDArray[np.float32]:
    """Return (C,) class weights n / (C n_c), where n is the number of texts and n_c the number of texts of class c.

    If there are sample weights, n and n_c are sums of sample weights. With the class weights, every class has the same
    total weight. A class without texts has a weight of 0.
    """
    counts = np.bincount(targets, sample_weights, classes)
    weights = np.divide(counts.sum(), classes * counts, out=np.zeros(classes), where=counts > 0)
    return weights.astype(np.float32)


def class_weights_of(model: Model, train: Examples) -> NDArray[np.float32] | None:
    """Return the (C,) class weights for training, or None if all classes have the same weight."""
    if model.settings.class_weight == "none":
        return None
    return balanced_weights(train.targets, len(model.labels), train.weights)


def loss_weights(model: Model, texts: Examples) -> NDArray[np.float64] | None:
    """Return the weight of each text in the loss, (texts,), or None if all weights are 1.

    If the model is trained with balanced classes, the weight of a text is multiplied by the weight of its class.
    """
    if not model.is_balanced:
        return texts.weights
    of_class = balanced_weights(texts.targets, len(model.labels), texts.weights)[texts.targets].astype(np.float64)
    return of_class if texts.weights is None else texts.weights * of_class


def loss_and_gradients(
    model: Model,
    microbatch: Microbatch,
    grads: Gradients,
    rng: np.random.Generator | None,
    count: int,
    weights: NDArray[np.float32] | None = None,
) -> tuple[float, int, NDArray]:
    """Return the summed loss of a microbatch, the number of correct predictions, and the gradient for its word vectors.

    All gradients are derivatives of the summed loss divided by ``count``.

    Args:
        model: model that is trained.
        microbatch: some texts of the batch, with their targets and features.
        grads: gradients of the parameters, to which the gradients of the microbatch are added.
        rng: source of randomness for dropout; None for no dropout.
        count: number of texts in the batch.
        weights: (C,) class weights, or None. Class weights and text weights, if both are given, are multiplied.
    """
    layout = Layout(microbatch.lengths, model.settings.attention_window, model.settings.causal)
    outputs, cache = model.network.forward(
        model.table[microbatch.ids], layout, rng, microbatch.token_features, microbatch.text_features
    )
    loss, doutputs = model.network.loss.value_and_gradient(outputs, microbatch.targets)
    of_text = microbatch.weights
    if weights is not None:
        of_class = weights[microbatch.targets]
        of_text = of_class if of_text is None else of_text * of_class
    if of_text is not None:
        loss = loss * of_text
        doutputs *= of_text[:, None]
    doutputs /= count
    dx = model.network.backward(doutputs, cache, grads)
    correct = model.network.loss.correct(outputs, microbatch.targets)
    return float(loss.sum()), int(correct.sum()), dx


def validate(
    model: Model, examples: Examples, workers: Workers, weights: NDArray[np.float32] | None = None
) -> tuple[float, float]:
    """Return the mean loss and the accuracy over ``examples``, weighted by the text weights.

    There must be at least one example. The class weights ``weights`` apply only to the loss, as in
    :func:`loss_and_gradients`.

    Texts without a known word are included; for these texts, the model predicts the prior probabilities of the labels.
    """
    loss_function = model.network.loss
    known = outputs_of(model, examples, workers)
    targets = np.concatenate([examples.targets, examples.unknown])
    prior = loss_function.outputs_for(model.priors)
    # With balanced classes, the network learns p_c / pi_c (see Model.as_probabilities). If the probabilities p equal
    # the priors pi, this ratio is the same for all classes, and so are the outputs.
    unknown = np.zeros_like(prior) if model.is_balanced else prior
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # the caller checks whether the loss is finite
        loss, _ = loss_function.value_and_gradient(_with_unknown(known, unknown, len(examples.unknown)), targets)
        correct = loss_function.correct(_with_unknown(known, prior, len(examples.unknown)), targets)
    if weights is not None:
        loss = loss * weights[targets]
    if examples.weights is not None and examples.unknown_weights is not None:
        of_text = np.concatenate([examples.weights, examples.unknown_weights])
        return float(np.average(loss, weights=of_text)), float(np.average(correct, weights=of_text))
    return float(loss.mean()), float(correct.mean())


def _with_unknown(known: NDArray, unknown: NDArray, texts: int) -> NDArray[np.float64]:
    """Add texts without a known word, all of which have the outputs ``unknown``, to the outputs of the other texts."""
    return np.concatenate([known.astype(np.float64), np.tile(unknown, (texts, 1))])


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
