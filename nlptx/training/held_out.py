"""Measurements on the held-out texts after training."""

from __future__ import annotations

from nlptx.classifier.model import Model
from nlptx.training.baseline import advice, compare_with_baselines
from nlptx.training.calibration import calibrate, measure_errors
from nlptx.training.context import TrainingContext
from nlptx.training.dataset import Dataset
from nlptx.training.history import has_epochs
from nlptx.training.loss import outputs_of


def measure_held_out(model: Model, data: Dataset, context: TrainingContext) -> None:
    """Calibrate a trained model on the held-out texts, measure its errors there, and warn if a baseline is better."""
    outputs = outputs_of(model, data.valid, context.workers)
    calibrate(model, outputs, data.valid)
    model.error_curve = measure_errors(model, outputs, data.valid)
    if warning := compare_with_baselines(model, data, outputs):
        model.history["warnings"] = [warning]
        context.on_note(f"warning: {warning}. {advice(model.settings, is_trained=has_epochs(model.history))}")
