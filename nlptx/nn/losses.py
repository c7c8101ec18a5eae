"""Losses: turn the final outputs of the network into probabilities, the loss of each text, and its gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.activations import sigmoid


class Loss:
    """Base class of the losses.

    Args:
        classes: C.

    Attributes:
        outputs: number of network outputs that the loss requires.
    """

    outputs: int

    def __init__(self, classes: int) -> None:
        self.classes = classes

    def probabilities(self, outputs: NDArray) -> NDArray:
        """Return the probability of each class, (B, C), for outputs (B, outputs); each row sums to 1."""
        raise NotImplementedError

    def outputs_for(self, probabilities: NDArray) -> NDArray:
        """Return outputs, (outputs,), whose probabilities are the given (C,) values, none of which may be 0."""
        raise NotImplementedError

    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return the loss of each text, and its derivative with respect to the outputs.

        Args:
            outputs: (B, outputs) float32 or float64, the final outputs of the network.
            targets: (B,) int, the class of each text; or (B, C) soft labels, the target probability of each class.

        Returns:
            The loss (B,) and its gradient (B, outputs).
        """
        raise NotImplementedError


class CrossEntropy(Loss):
    """Cross-entropy: -log p_target with p = softmax(outputs), one output per class."""

    def __init__(self, classes: int) -> None:
        super().__init__(classes)
        self.outputs = classes

    def probabilities(self, outputs: NDArray) -> NDArray:
        p = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p

    def outputs_for(self, probabilities: NDArray) -> NDArray:
        return np.log(probabilities)

    # Let s be the outputs, p = softmax(s), and q the target probabilities, which sum to 1:
    #   loss = -sum_c q_c log p_c = log sum_j exp(s_j) - sum_c q_c s_c,    so    ds_j = p_j - q_j.
    # For a hard label, q is 1 for that class and 0 for the others.
    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        shifted = outputs - outputs.max(axis=1, keepdims=True)
        exponentials = np.exp(shifted)
        total = exponentials.sum(axis=1, keepdims=True)  # (B, 1)
        gradient = exponentials / total
        if targets.ndim == 2:
            return np.log(total[:, 0]) - (targets * shifted).sum(axis=1), gradient - targets
        rows = np.arange(len(targets))
        gradient[rows, targets] -= 1
        return np.log(total[:, 0]) - shifted[rows, targets], gradient


class SquaredError(Loss):
    """Squared error: (p - target)^2 with p = sigmoid(output), for two classes.

    Raises:
        ValueError: the number of classes is not 2.
    """

    outputs = 1

    def __init__(self, classes: int) -> None:
        if classes != 2:
            raise ValueError(f"squared error needs 2 classes, got {classes}")
        super().__init__(classes)

    def probabilities(self, outputs: NDArray) -> NDArray:
        p = sigmoid(outputs)  # (B, 1)
        return np.concatenate([1 - p, p], axis=1)  # (B, 2)

    def outputs_for(self, probabilities: NDArray) -> NDArray:
        return np.log(probabilities[1:] / probabilities[:1])

    # dp/ds = p (1 - p), so by the chain rule ds = 2 (p - target) p (1 - p).
    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        p = sigmoid(outputs)  # (B, 1)
        target = targets[:, 1:] if targets.ndim == 2 else targets[:, None]  # (B, 1)
        error = p - target.astype(p.dtype)
        return (error * error)[:, 0], 2 * error * p * (1 - p)


LOSSES: dict[str, type[Loss]] = {"cross-entropy": CrossEntropy, "squared-error": SquaredError}
