"""Loss functions: each computes the class probabilities, the loss of each text, and the gradient of this loss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.activations import sigmoid

# Probabilities are clipped to at least this distance from 0 and 1 before their log-odds are computed.
_MIN_PROBABILITY = 1e-6


class Loss:
    """Base class of the losses.

    Args:
        classes: C, the number of classes.

    Attributes:
        outputs: number of network outputs per text that the loss requires.
        independent: whether the classification is multi-label, that is, whether each class is a separate yes-or-no
            decision.
    """

    outputs: int
    independent: ClassVar[bool] = False

    def __init__(self, classes: int) -> None:
        self.classes = classes

    @property
    def decisions(self) -> int:
        """Number of decisions per text: C if the classes are independent, otherwise 1.

        The loss of a text is the sum of the losses of its decisions.
        """
        return self.classes if self.independent else 1

    def probabilities(self, outputs: NDArray) -> NDArray:
        """Return the probability of each class, (B, C), for outputs (B, outputs).

        Each row of the result sums to 1, unless the classes are independent.
        """
        raise NotImplementedError

    def correct(self, outputs: NDArray, targets: NDArray) -> NDArray[np.bool_]:
        """Return whether the prediction for each text is correct, (B,).

        The prediction is the most probable class or, if the classes are independent, the set of classes with a
        probability above 0.5. The arguments are those of :meth:`value_and_gradient`.
        """
        predicted = self.probabilities(outputs).argmax(axis=1)
        return predicted == (targets if targets.ndim == 1 else targets.argmax(axis=1))

    def outputs_for(self, probabilities: NDArray) -> NDArray:
        """Return the network outputs, (outputs,), for which the classes have the given probabilities (C,).

        If the classes are not independent, all probabilities must be positive.
        """
        raise NotImplementedError

    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        """Return the loss of each text, and its derivative with respect to the outputs.

        Args:
            outputs: (B, outputs) float32 or float64, the final outputs of the network.
            targets: (B,) int, the class of each text; or (B, C), the target probability of each class.

        Returns:
            The loss (B,) and its gradient (B, outputs).
        """
        raise NotImplementedError


class CrossEntropy(Loss):
    """Cross-entropy: -log p_target, where p = softmax(outputs), with one output per class."""

    def __init__(self, classes: int) -> None:
        super().__init__(classes)
        self.outputs = classes

    def probabilities(self, outputs: NDArray) -> NDArray:
        p = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return p

    def outputs_for(self, probabilities: NDArray) -> NDArray:
        return np.log(probabilities)

    # Let s be the outputs, p = softmax(s), and y the target probabilities, which sum to 1:
    #   loss = -sum_c y_c log p_c = log sum_j exp(s_j) - sum_c y_c s_c,    so    ds_j = p_j - y_j.
    # If a text has a single label, y is 1 for its class and 0 for all other classes.
    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        shifted = outputs - outputs.max(axis=1, keepdims=True)
        exponentials = np.exp(shifted)
        total = exponentials.sum(axis=1, keepdims=True)  # (B, 1)
        gradient = exponentials / total
        if targets.ndim == 2:
            return np.log(total[:, 0]) - (targets * shifted).sum(axis=1), gradient - targets  # (B,), (B, C)
        rows = np.arange(len(targets))
        gradient[rows, targets] -= 1
        return np.log(total[:, 0]) - shifted[rows, targets], gradient  # (B,), (B, C)


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

    # With the output s and p = sigmoid(s), ∂p/∂s = p (1 - p), so ds = 2 (p - target) p (1 - p).
    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        p = sigmoid(outputs)  # (B, 1)
        target = targets[:, 1:] if targets.ndim == 2 else targets[:, None]  # (B, 1)
        error = p - target.astype(p.dtype)
        return (error * error)[:, 0], 2 * error * p * (1 - p)


class BinaryCrossEntropy(Loss):
    """Binary cross-entropy, summed over the classes: -log p_c for the classes of a text, -log(1 - p_c) for the others.

    Here p = sigmoid(outputs), with one output per class. The targets are (B, C): 1 or True for the classes of a text.
    """

    independent = True

    def __init__(self, classes: int) -> None:
        super().__init__(classes)
        self.outputs = classes

    def probabilities(self, outputs: NDArray) -> NDArray:
        return sigmoid(outputs)

    def outputs_for(self, probabilities: NDArray) -> NDArray:
        # Without clipping, the log-odds of a class that applies to all texts, or to none, would be infinite.
        p = np.clip(probabilities, _MIN_PROBABILITY, 1 - _MIN_PROBABILITY)
        return np.log(p / (1 - p))

    def correct(self, outputs: NDArray, targets: NDArray) -> NDArray[np.bool_]:
        return ((outputs > 0) == (targets > 0.5)).all(axis=1)

    # With the output s of a class, p = sigmoid(s) and the target y, log p = s - log(1 + exp(s)) and
    # log(1 - p) = -log(1 + exp(s)), so
    #   loss = -y log p - (1 - y) log(1 - p) = log(1 + exp(s)) - y s,    and    ds = sigmoid(s) - y.
    def value_and_gradient(self, outputs: NDArray, targets: NDArray) -> tuple[NDArray, NDArray]:
        y = targets.astype(outputs.dtype)
        zero = np.zeros((), outputs.dtype)
        return (np.logaddexp(zero, outputs) - y * outputs).sum(axis=1), sigmoid(outputs) - y  # (B,), (B, C)


LOSSES: dict[str, type[Loss]] = {
    "cross-entropy": CrossEntropy,
    "squared-error": SquaredError,
    "binary-cross-entropy": BinaryCrossEntropy,
}
