"""What a model has to beat: answers that ignore the text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.training.dataset import Dataset

_TINY = float(np.finfo(np.float32).tiny)


def find_uselessness(model: Model, data: Dataset, outputs: NDArray, weights: NDArray | None) -> str:
    """Return how answers that ignore the text are better on the held-out texts, or an empty string.

    The answers to beat are the label frequencies, by their log-loss, and the most frequent label, by its accuracy. With
    class weights only the weighted log-loss counts, because finding rare labels costs accuracy.

    Args:
        model: the trained model.
        data: the texts that it was trained and validated on.
        outputs: (texts, outputs) of its network for the held-out texts.
        weights: (C,) weights of the classes in training, or None.
    """
    targets = data.valid.targets
    counts = np.bincount(data.train.targets, minlength=len(model.labels))
    frequencies = counts * (1.0 if weights is None else weights)
    frequencies = frequencies / frequencies.sum()
    p = model.network.loss.probabilities(outputs.astype(np.float64) / model.temperature)
    loss = _log_loss(p[np.arange(len(p)), targets], targets, weights)
    loss_to_beat = _log_loss(frequencies[targets], targets, weights)
    accuracy = float(np.mean(p.argmax(axis=1) == targets))
    most_frequent = int(counts.argmax())
    accuracy_to_beat = float(np.mean(targets == most_frequent))
    found = []
    if accuracy < accuracy_to_beat and weights is None:
        found.append(f"accuracy {accuracy:.1%}, always {model.labels[most_frequent]!r} {accuracy_to_beat:.1%}")
    if loss > loss_to_beat:
        found.append(f"log-loss {loss:.4g}, label frequencies {loss_to_beat:.4g}")
    if not found:
        return ""
    texts = f"{len(targets):,} held-out texts"
    return f"on the {texts} the model is worse than answers that ignore the text: " + "; ".join(found)


def _log_loss(true: NDArray[np.float64], targets: NDArray[np.int64], weights: NDArray | None) -> float:
    """Return the mean of -log P(true class), weighted by class."""
    of_texts = np.ones(len(targets)) if weights is None else weights[targets].astype(np.float64)
    return float(of_texts @ -np.log(np.maximum(true, _TINY))) / max(float(of_texts.sum()), _TINY)
