"""Converts the outputs of a network to scores, to which the scores of linear models can be added, and back.

In multi-label classification, the scores are the log-odds of the labels. If each text has one of two classes, the
score is the log-odds z of the second class, and the two outputs of the network are -z/2 and z/2; if the loss is the
squared error, z is the only output. If each text has one of three or more classes, the scores are the log-probabilities
of the classes up to a constant. There are E scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.losses import Loss


def to_scores(loss: Loss) -> NDArray[np.float64]:
    """Return the matrix (outputs, E) that converts outputs to scores."""
    return np.array([[-1.0], [1.0]]) if _has_one_score(loss) else np.eye(loss.outputs)


def to_outputs(loss: Loss) -> NDArray[np.float64]:
    """Return the matrix (E, outputs) that converts scores to outputs."""
    return np.array([[-0.5, 0.5]]) if _has_one_score(loss) else np.eye(loss.outputs)


def _has_one_score(loss: Loss) -> bool:
    return loss.outputs == 2 and not loss.independent
