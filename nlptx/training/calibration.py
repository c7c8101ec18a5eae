"""Calibration of the predicted probabilities with a single number, the temperature (Guo et al. 2017).

A network that fits its training texts well is usually overconfident. Dividing the outputs of a network by a temperature
T changes the confidence of each prediction, but not the order of the outputs. T minimises the sum of the log-losses on
held-out texts, plus (log T)^2 / (2 S^2): a normal prior of log T with standard deviation S. Without the prior, T would
be almost 0 if no held-out text is classified wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.abstention import ErrorCurve
from nlptx.classifier.model import Model
from nlptx.metrics import calibration_error, calibration_noise_floor, log_loss
from nlptx.sampling.copies import first_copies
from nlptx.training.dataset import Examples
from nlptx.training.targets import Targets
from nlptx.training.thresholds import choose_thresholds

# Minimum number of held-out texts. With fewer texts, the temperature would be mostly noise.
MIN_TEXTS = 100
# Standard deviation S of the prior.
_DEVIATION = 0.5
# The temperature is between 1/MAX_TEMPERATURE and MAX_TEMPERATURE.
MAX_TEMPERATURE = 10.0


def find_temperature(
    as_probabilities: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    outputs: NDArray,
    targets: Targets,
    weights: NDArray[np.float64] | None = None,
) -> float:
    """Return the temperature with the lowest log-loss, including the prior; 1 if there are too few texts.

    Args:
        as_probabilities: function that converts outputs, already divided by the temperature, to probabilities (texts,
            C).
        outputs: (texts, outputs) outputs of the model for held-out texts.
        targets: (texts,) class of each text; for multi-label texts, (texts, C) bool: whether each text has each class.
        weights: (texts,) weight of each text, or None.
    """
    if len(targets) < MIN_TEXTS:
        return 1.0
    outputs = outputs.astype(np.float64)
    total = len(targets) if weights is None else float(weights.sum())

    def loss_at(log_temperature: float) -> float:
        mean = log_loss(as_probabilities(outputs / np.exp(log_temperature)), targets, weights)
        return total * mean + (log_temperature / _DEVIATION) ** 2 / 2

    bound = np.log(MAX_TEMPERATURE)
    return round(float(np.exp(_minimum(loss_at, -bound, bound, tolerance=1e-4))), 4)


def _minimum(value_at: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Find the minimum of a function between ``low`` and ``high`` by golden-section search, and return its position.

    The function must have a single minimum between ``low`` and ``high``. Each step compares the values at two points
    inside the interval, and cuts off the part of the interval beyond the worse point, until the length of the interval
    is at most ``tolerance``. The points divide the interval in the golden ratio, so the better point is one of the two
    points of the next step, and each step needs only one new value.
    """
    ratio = (np.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = value_at(left), value_at(right)
    while high - low > tolerance:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = value_at(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = value_at(right)
    return (low + high) / 2


def calibrate(model: Model, outputs: NDArray, valid: Examples) -> None:
    """Set the temperature of a model, unless its settings disable calibration.

    For a multi-label model, the log-loss of a text is the sum of the log-losses of its labels. The label thresholds of
    a multi-label model are set even if calibration is disabled.

    Args:
        model: model to calibrate, modified in place; the history of the model records the calibration.
        outputs: (texts, outputs) outputs of the model for the held-out texts.
        valid: the held-out texts.
    """
    if model.settings.calibrate:
        model.temperature = find_temperature(model.as_probabilities, outputs, valid.targets, valid.weights)
    if model.multi_label is not None:
        thresholds = choose_thresholds(model.calibrated(outputs), valid.targets, valid.weights)
        model.multi_label = replace(model.multi_label, thresholds=thresholds)
    if model.settings.calibrate:
        model.history["calibration"] = _measure_calibration(model, outputs, valid)


def _measure_calibration(model: Model, outputs: NDArray, valid: Examples) -> dict[str, Any]:
    """Return the log-loss and the calibration error of a model with and without its temperature."""
    facts: dict[str, Any] = {
        "measured_on": "the held-out texts, which also determined the epoch and the temperature",
        "texts": len(valid),
        "temperature": model.temperature,
    }
    for name, divisor in ("before", 1.0), ("after", model.temperature):
        p = model.as_probabilities(outputs.astype(np.float64) / divisor)
        confidence, correct = _confidence(model, p, valid)
        facts[f"log_loss_{name}"] = round(log_loss(p, valid.targets, valid.weights), 5)
        facts[f"ece_{name}"] = round(calibration_error(confidence, correct, weights=valid.weights), 5)
    facts["ece_floor_after"] = round(calibration_noise_floor(confidence, weights=valid.weights).mean, 5)
    return facts


def measure_errors(model: Model, outputs: NDArray, valid: Examples) -> ErrorCurve:
    """For each confidence threshold, count the held-out predictions that reach it, and the wrong ones among them.

    Text weights are ignored, and of several copies of a text, only the first one is counted, because the guarantee of
    ``--max-error`` requires counts of independent texts.

    Args:
        model: calibrated model.
        outputs: (texts, outputs) outputs of the model for the held-out texts.
        valid: the held-out texts.
    """
    confidence, correct = _confidence(model, model.calibrated(outputs), valid)
    is_first = first_copies(valid.ids, model.vocabulary.capitals_sign) == np.arange(len(valid))
    return ErrorCurve.of(confidence[is_first], correct[is_first], int(is_first.sum()) + len(valid.unknown))


def _confidence(model: Model, p: NDArray[np.float64], valid: Examples) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return, for the probabilities ``p`` (texts, C), the confidence of each prediction and whether it is correct."""
    chosen = model.choose(p)
    return model.decision.confidence(p, chosen), model.decision.correct(chosen, valid.targets)
