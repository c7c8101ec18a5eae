"""Creates a model with random weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.decision import MultiLabelDecision
from nlptx.classifier.label_types import Label
from nlptx.classifier.model import Model
from nlptx.classifier.network import Network, feature_widths
from nlptx.ngrams import NgramFeatures
from nlptx.nn import flatten
from nlptx.runtime.shared_memory import shared_copy, shared_zeros
from nlptx.sampling.rng_streams import Stream, generator
from nlptx.settings import TrainSettings
from nlptx.text.vocabulary import Vocabulary


def initial_model(
    vocabulary: Vocabulary,
    vectors: NDArray,
    labels: list[Label],
    values: list[float] | None,
    priors: NDArray[np.float64],
    settings: TrainSettings,
    seed: int,
    ngram_features: NgramFeatures | None = None,
    multi_label: MultiLabelDecision | None = None,
) -> Model:
    """Return an untrained model; the arguments are those of :class:`Model`.

    The weights are in shared memory, so that worker processes see every change to them.

    Raises:
        SettingsError: the settings do not fit the data.
    """
    rng = generator(seed, Stream.WEIGHTS)
    network = Network(settings, vectors.shape[1], len(labels), rng, *feature_widths(ngram_features))
    if network.loss.independent and network.text_projection is None and network.head.bias is not None:
        # With a bias of 0, every label would have an initial probability of about 0.5, even a rare label.
        network.head.bias.value[...] = network.loss.outputs_for(priors)
    return Model(
        vocabulary=vocabulary,
        table=shared_copy(vectors),
        labels=labels,
        values=values,
        priors=priors,
        settings=settings,
        network=network,
        flat=flatten(network, vectors.dtype, shared_zeros),
        history={},
        seed=seed,
        ngram_features=ngram_features,
        multi_label=multi_label,
    )
