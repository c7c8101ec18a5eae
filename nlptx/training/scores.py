"""Converts the outputs of a network to scores, to which the scores of linear models can be added, and back.

In multi-label classification, the scores are the log-odds of the labels. If each text has one of two classes, the
score is the log-odds z of the second class, and the two outputs of the network are -z/2 and z/2; if the loss is the
squared error, z is the only output. If each text has one of three or more classes, the scores are the log-probabilities
of the classes up to a constant. There are E scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.network import Network
from nlptx.ngrams import NgramFeatures
from nlptx.ngrams.extension import with_outputs
from nlptx.nn import Linear, WeightedSum
from nlptx.nn.losses import Loss


def to_scores(loss: Loss) -> NDArray[np.float64]:
    """Return the matrix (outputs, E) that converts outputs to scores."""
    return np.array([[-1.0], [1.0]]) if _has_one_score(loss) else np.eye(loss.outputs)


def to_outputs(loss: Loss) -> NDArray[np.float64]:
    """Return the matrix (E, outputs) that converts scores to outputs."""
    return np.array([[-0.5, 0.5]]) if _has_one_score(loss) else np.eye(loss.outputs)


def _has_one_score(loss: Loss) -> bool:
    return loss.outputs == 2 and not loss.independent


def with_scores(
    features: NgramFeatures, projection: Linear | WeightedSum, change: NDArray[np.float64]
) -> NgramFeatures:
    """Return a copy of n-gram features in which the linear models compute scores instead of text features.

    Args:
        features: n-gram features, whose linear models compute the text features of a network.
        projection: layer of this network that maps the text features to the outputs.
        change: (outputs, E) matrix that converts the outputs of the network to scores.
    """
    weight = projection.weight.value
    if isinstance(projection, WeightedSum):
        weight = np.concatenate([np.diag(row) for row in weight])
    models = 1 if features.latent is None else 2
    return with_outputs(features, np.split(weight @ change, models))


def pass_on_scores(network: Network) -> None:
    """Set the weights of the text features so that the network adds the scores of the linear models to its outputs."""
    projection, of_scores = network.text_projection, to_outputs(network.loss)
    if isinstance(projection, WeightedSum):
        projection.weight.value[...] = 1
    elif projection is not None:
        projection.weight.value[...] = np.tile(of_scores, (len(projection.weight.value) // len(of_scores), 1))
