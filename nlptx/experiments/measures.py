"""The quality measures that experiments report."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nlptx.metrics import calibration_error, log_loss, precision_recall_f1


class Measures(NamedTuple):
    """The quality of predictions, as in the report of ``nlptx evaluate``.

    Args:
        accuracy: fraction of the texts whose predicted label, or set of labels, is correct.
        macro_f1: mean F1 of the labels that occur among the true labels.
        log_loss: mean of -log P(true label) over the texts, in nats. For multi-label data, the log-loss of a text is
            the sum over all labels.
        ece: expected calibration error of the confidence.
    """

    accuracy: float
    macro_f1: float
    log_loss: float
    ece: float

    @classmethod
    def of(
        cls,
        probabilities: NDArray[np.float64],
        predicted: NDArray,
        confidence: NDArray[np.float64],
        targets: NDArray,
    ) -> Measures:
        """Return the measures of the predictions for one or more texts.

        Args:
            probabilities: (texts, C) probability of each label.
            predicted: (texts,) int64 predicted class; for multi-label data, (texts, C) bool, whether each class is
                predicted.
            confidence: (texts,) probability of the prediction.
            targets: true classes, in the same form as ``predicted``.
        """
        correct = np.equal(predicted, targets).reshape(len(targets), -1).all(axis=1)
        chosen, true = (_as_sets(classes, probabilities.shape[1]) for classes in (predicted, targets))
        counts = zip((chosen & true).sum(axis=0), chosen.sum(axis=0), true.sum(axis=0), strict=True)
        f1 = [precision_recall_f1(int(hits), int(of), int(texts))[2] for hits, of, texts in counts if texts]
        return cls(
            float(correct.mean()),
            float(np.mean(f1)) if f1 else 0.0,
            log_loss(probabilities, targets),
            calibration_error(confidence, correct),
        )

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Measures:
        """Return the measures in a record.

        Raise TypeError or ValueError if the record does not contain four numbers.
        """
        return cls(**{name: float(value) for name, value in record.items()})


def _as_sets(classes: NDArray, count: int) -> NDArray[np.bool_]:
    return classes if classes.ndim == 2 else classes[:, None] == np.arange(count)
