"""The contents of a trained classifier: everything that prediction needs, and a record of the training."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.abstention import ErrorCurve
from nlptx.classifier.decision import MultiLabelDecision
from nlptx.classifier.label_types import Label
from nlptx.classifier.network import Network
from nlptx.classifier.region_fusion import RegionFusion
from nlptx.classifier.surprise import TypicalSurprise
from nlptx.ngrams import NgramFeatures
from nlptx.settings import SEED, TrainSettings
from nlptx.text.vocabulary import Vocabulary


@dataclass(eq=False)  # comparing two arrays with == gives an array, not a bool
class ModelContents:
    """The contents of a text classifier.

    Args:
        vocabulary: the V known words.
        table: (V, R) word vectors.
        labels: the C labels, in order, with the same types as in training.
        values: value of each label in [-1, 1], or None if the labels have no order.
        priors: (C,) fraction of the training texts with each label; if the texts have weights, fraction of the total
            weight. For a text without a known word, these fractions are the predicted probabilities.
        settings: training settings.
        network: the transformer.
        flat: (P,) parameters of the network.
        history: training history, as JSON values.
        made_from: header of the artifact (embeddings or another model) from which training started.
        seed: seed of the training run.
        ngram_features: computes the n-gram features of a text; None if the model uses none.
        source: number of training documents and, if known, digests of the training data.
        temperature: number by which the outputs are divided to calibrate the probabilities.
        card: description of the model by its authors, as JSON values; shown by ``nlptx info``.
        error_curve: for each of several confidence thresholds, the number of held-out texts that reach it, and how many
            of them are classified wrongly. None if the model does not store these numbers; :meth:`.Model.threshold`
            then raises an error.
        typical_surprise: distribution of the training texts' surprise (:mod:`.surprise`); None if it is unknown.
        multi_label: decision rule and label separator of a multi-label model; None for a single-label model.
        regions: region classifier whose outputs are combined with those of the network; None if there is none.
    """

    vocabulary: Vocabulary
    table: NDArray
    labels: list[Label]
    values: list[float] | None
    priors: NDArray[np.float64]
    settings: TrainSettings
    network: Network
    flat: NDArray
    history: dict[str, Any]
    made_from: dict[str, Any] | None = None
    seed: int = SEED
    ngram_features: NgramFeatures | None = None
    source: dict[str, Any] = field(default_factory=dict)
    temperature: float = 1.0
    card: dict[str, Any] = field(default_factory=dict)
    error_curve: ErrorCurve | None = None
    typical_surprise: TypicalSurprise | None = None
    multi_label: MultiLabelDecision | None = None
    regions: RegionFusion | None = None
