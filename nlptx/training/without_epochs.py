"""Makes the training history of a model whose network was not trained.

The network is not trained if ``epochs`` is 0, or if training starts from a model that no correction improves
(:mod:`nlptx.training.start`).
"""

from __future__ import annotations

from typing import Any

from nlptx.classifier.model import Model
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset
from nlptx.training.loss import validate


def history_without_epochs(model: Model, data: Dataset, context: TrainingContext, **measures: float) -> dict[str, Any]:
    """Validate a model, and return the training history to store in it, with one record (epoch 1, step 0).

    Args:
        model: the model; it is not modified.
        data: training and validation texts.
        context: workers and callbacks.
        measures: loss and accuracy on the training texts, if they were measured.
    """
    record = {"epoch": 1, "step": 0, **{name: round(value, 5) for name, value in measures.items()}}
    if len(data.valid):
        loss, accuracy = validate(model, data.valid, context.workers)
        record |= {"valid_loss": round(loss, 5), "valid_accuracy": round(accuracy, 5)}
    return {
        "epochs": [record],
        "curve": [],
        "best_epoch": 1,
        "steps": 0,
        "interrupted": False,
        "train_texts": len(data.train) - data.train.passages,
        "passages": data.train.passages,
        "valid_texts": len(data.valid) + len(data.valid.unknown),
        "pretrain": [],
        "distill": [],
    }
