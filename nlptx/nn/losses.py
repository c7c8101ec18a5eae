"""Losses: from the network's last outputs to probabilities, a loss per text, and its gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.activations import sigmoid


class Loss:
    """Base class.

    Args:
        classes: C.
    """

    outputs: int

    def __init__(self, classes: int) -> None:
        self.classes = classes

    def probabilities(self, outputs: NDArray) -> NDArray:
        """Return (B, C) probabilities, each row summing to 1."""
        raise NotImplementedError

    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return the loss of each text, (B,), and its gradient with respect to ``outputs``.

        Args:
            outputs: (B, outputs) of the network.
            targets: (B,) int, class of each text; or (B, C) soft labels, the probabilities that are wanted.
        """
        raise NotImplementedError


class CrossEntropy(Loss):
    """-log p_target with p = softmax(outputs); C outputs."""

    def __init__(self, classes: int) -> None:
        super().__init__(classes)
        self.outputs = classes

    def probabilities(self, outputs: NDArray) -> NDArray:
        p = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p

    # loss = -sum_c q_c log p_c = log sum_j exp(s_j) - sum_c q_c s_c, as the wanted q_c sum to 1; so
    # dloss/ds_j = p_j - q_j. A class is the soft label with q = 1 there, picked out and not multiplied.
    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        shifted = outputs - outputs.max(axis=1, keepdims=True)
        exponents = np.exp(shifted)
        total = exponents.sum(axis=1, keepdims=True)
        gradient = exponents / total
        if targets.ndim == 2:
            return np.log(total[:, 0]) - (targets * shifted).sum(axis=1), gradient - targets
        rows = np.arange(len(targets))
        gradient[rows, targets] -= 1
        return np.log(total[:, 0]) - shifted[rows, targets], gradient


class SquaredError(Loss):
    """(p - target)^2 with p = sigmoid(output), one output, two classes."""

    outputs = 1

    def __init__(self, classes: int) -> None:
        if classes != 2:
            raise ValueError(f"squared error takes 2 classes, not {classes}")
        super().__init__(classes)

    def probabilities(self, outputs: NDArray) -> NDArray:
        p = sigmoid(outputs)
        return np.concatenate([1 - p, p], axis=1)

    # dp/ds = p (1 - p), so dloss/ds = 2 (p - target) p (1 - p).
    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        p = sigmoid(outputs)
        wanted = targets[:, 1:] if targets.ndim == 2 else targets[:, None]
        error = p - wanted.astype(p.dtype)
        return (error * error)[:, 0], 2 * error * p * (1 - p)


LOSSES: dict[str, type[Loss]] = {"cross-entropy": CrossEntropy, "squared-error": SquaredError}
