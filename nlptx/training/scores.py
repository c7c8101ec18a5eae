"""Makes the linear models of n-grams compute scores (:mod:`nlptx.classifier.scores`) instead of text features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.network import Network
from nlptx.classifier.scores import to_outputs
from nlptx.ngrams import NgramFeatures
from nlptx.ngrams.extension import with_outputs
from nlptx.nn import Linear, WeightedSum


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
    return with_outputs(features, np.split(weight @ change, features.models))


def pass_on_scores(network: Network) -> None:
    """Set the weights of the text features so that the network adds the scores of the linear models to its outputs."""
    projection, of_scores = network.text_projection, to_outputs(network.loss)
    if isinstance(projection, WeightedSum):
        projection.weight.value[...] = 1
    elif projection is not None:
        projection.weight.value[...] = np.tile(of_scores, (len(projection.weight.value) // len(of_scores), 1))
