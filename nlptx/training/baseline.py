"""Baselines that every model must beat: predictions that ignore the text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.metrics import log_loss
from nlptx.settings import TrainSettings
from nlptx.training.automatic import EPOCHS
from nlptx.training.dataset import Dataset
from nlptx.training.targets import count_labels

# Losses whose relative difference is at most this number are considered equal.
_ROUNDING = 1e-4
# With fewer held-out texts, the comparison says nothing about the model.
_MIN_TEXTS = 5


def compare_with_baselines(model: Model, data: Dataset, outputs: NDArray) -> str:
    """Return a description of the baselines that beat the model on the held-out texts; an empty string if none does.

    The log-loss of the model is compared with that of predicting the label frequencies, and its accuracy with that of
    always predicting the most frequent label. In two cases, only the log-loss is compared: for a balanced model, which
    trades accuracy for the recall of rare labels, and for a multi-label model, whose predictions are sets of labels.

    Args:
        model: trained model.
        data: texts on which the model was trained and validated.
        outputs: (texts, outputs) outputs of the model for the held-out texts.
    """
    targets, weights = data.valid.targets, data.valid.weights
    if len(targets) < _MIN_TEXTS:
        return ""
    train_weights = data.train.weights
    counts = count_labels(data.train.targets, len(model.labels), train_weights)
    texts = len(data.train) if train_weights is None else train_weights.sum()
    p = model.calibrated(outputs)
    loss = log_loss(p, targets, weights)
    loss_to_beat = log_loss(np.tile(counts / texts, (len(targets), 1)), targets, weights)
    failures = []
    if model.multi_label is None and model.settings.class_weight == "none":
        accuracy = float(np.average(p.argmax(axis=1) == targets, weights=weights))
        most_frequent = int(counts.argmax())
        accuracy_to_beat = float(np.average(targets == most_frequent, weights=weights))
        if accuracy < accuracy_to_beat:
            label = model.labels[most_frequent]
            failures.append(f"accuracy {accuracy:.1%}, versus {accuracy_to_beat:.1%} for always predicting {label!r}")
    if loss > loss_to_beat * (1 + _ROUNDING):
        failures.append(f"log-loss {loss:.4g}, versus {loss_to_beat:.4g} for predicting the label frequencies")
    if not failures:
        return ""
    held_out = f"{len(targets):,} held-out texts"
    return f"on the {held_out} the model is worse than predictions that ignore the text: " + "; ".join(failures)


def advice(settings: TrainSettings, *, is_trained: bool) -> str:
    """Return advice on how to get a model that beats the baselines.

    Args:
        settings: the settings of the model.
        is_trained: whether the network was trained. If training starts from a model, and the new texts do not improve
            its predictions, the network is not trained, even if ``epochs`` is above 0.
    """
    if is_trained:
        return "Use more texts, increase `epochs`, check the labels, or lower `lr`."
    train_network = f"train a network (`epochs={EPOCHS}`)"
    other = "train a new model, without `start`" if settings.epochs else train_network
    return f"Use more texts, check the labels, or {other}."
