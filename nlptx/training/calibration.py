"""Calibration: one number, the temperature, that makes probabilities mean what they say (Guo et al. 2017).

A network that fits its training texts well is surer of itself than it should be. Dividing its outputs by a
temperature T changes no answer, only how sure it is; T is chosen to give held-out texts the least log-loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.metrics import calibration_error, log_loss
from nlptx.nn import Loss

# With fewer held-out texts the temperature would be more noise than knowledge.
LEAST_TEXTS = 100
# The temperature is between 1/LARGEST and LARGEST.
LARGEST = 10.0


def find_temperature(loss: Loss, outputs: NDArray, targets: NDArray[np.int64]) -> float:
    """Return the temperature with the least log-loss; 1 for too few texts.

    Args:
        loss: turns outputs into probabilities.
        outputs: (texts, outputs) of the network for held-out texts.
        targets: (texts,) class of each.
    """
    from scipy.optimize import minimize_scalar  # slow to import

    if len(targets) < LEAST_TEXTS:
        return 1.0
    outputs = outputs.astype(np.float64)

    def missed(log_temperature: float) -> float:
        return log_loss(loss.probabilities(outputs / np.exp(log_temperature)), targets)

    bound = np.log(LARGEST)
    found = minimize_scalar(missed, bounds=(-bound, bound), method="bounded", options={"xatol": 1e-4})
    return round(float(np.exp(found.x)), 4)


def calibrate(model: Model, outputs: NDArray, targets: NDArray[np.int64]) -> None:
    """Set the temperature of a model, and record log-loss and calibration error before and after.

    Args:
        model: changed in place.
        outputs: (texts, outputs) of its network for held-out texts.
        targets: (texts,) class of each text.
    """
    loss = model.network.loss
    model.temperature = find_temperature(loss, outputs, targets)
    model.history["calibration"] = describe(loss, outputs, targets, model.temperature)


def describe(loss: Loss, outputs: NDArray, targets: NDArray[np.int64], temperature: float) -> dict[str, Any]:
    """Return log-loss and calibration error of the held-out texts, before and after."""
    facts: dict[str, Any] = {"texts": len(targets), "temperature": temperature}
    for name, divisor in ("before", 1.0), ("after", temperature):
        p = loss.probabilities(outputs.astype(np.float64) / divisor)
        facts[f"log_loss_{name}"] = round(log_loss(p, targets), 5)
        facts[f"ece_{name}"] = round(calibration_error(p.max(axis=1), p.argmax(axis=1) == targets), 5)
    return facts
