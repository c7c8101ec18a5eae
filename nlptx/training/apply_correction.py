"""Changes the weights of a model so that its outputs include a correction (:mod:`nlptx.ngrams.correction`).

The correction applies to scores (:mod:`nlptx.classifier.scores`). Each text has E0 old scores, for the labels of the
model that training starts from, and E new scores, for the labels of the new model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.classifier.region_fusion import RegionFusion
from nlptx.classifier.scores import to_outputs, to_scores
from nlptx.ngrams import NgramFeatures
from nlptx.ngrams.correction import Correction
from nlptx.nn.losses import BinaryCrossEntropy, CrossEntropy, Loss
from nlptx.settings import TrainSettings
from nlptx.training.scores import pass_on_scores, with_scores

# The correction has two kinds of inputs: the old scores, multiplied by OUTPUT_SCALE, and the pooled vectors (the inputs
# of the head), scaled to a standard deviation of _POOLED_SCALE. All inputs have weights with a prior variance of 1, so
# smaller inputs have less influence.
OUTPUT_SCALE, _POOLED_SCALE = 0.1**0.5, 0.1


@dataclass(frozen=True)
class PooledScale:
    """A map that gives each component of pooled vectors a mean of 0 and a standard deviation of _POOLED_SCALE."""

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]

    @classmethod
    def of(cls, pooled: NDArray[np.float64], text_weights: NDArray[np.float64] | None) -> PooledScale:
        """Build the map for pooled vectors (texts, W); ``text_weights`` (texts,) is None if all weights are equal."""
        mean = np.average(pooled, axis=0, weights=text_weights)
        spread = np.sqrt(np.average((pooled - mean) ** 2, axis=0, weights=text_weights))
        return cls(mean, _POOLED_SCALE / np.where(spread > 1e-6, spread, np.inf))

    def apply(self, pooled: NDArray[np.float64]) -> NDArray[np.float64]:
        """Apply the map to pooled vectors (texts, W)."""
        return (pooled - self.mean) * self.factor


def score_conversion(before: Model, new: list[str], *, multi_label: bool) -> NDArray[np.float64]:
    """Return the matrix (E0, E) that converts old scores to new scores.

    Labels are matched by name; new labels get a score of 0. If the new texts are multi-label but the old model is not,
    all labels get a score of 0, because the old scores are not the log-odds of single labels. The correction can still
    use the old scores, which are among its inputs.
    """
    old = before.label_names
    same = np.array([[float(name == other) for other in new] for name in old])
    if multi_label:
        return same if before.multi_label is not None else np.zeros((to_scores(before.network.loss).shape[1], len(new)))
    return to_outputs(CrossEntropy(len(old))) @ same @ to_scores(CrossEntropy(len(new)))


def initial_bias(
    before: Model, new: list[str], priors: NDArray[np.float64], *, multi_label: bool
) -> float | NDArray[np.float64]:
    """Return the numbers (E,) to add to the converted scores (:func:`score_conversion`); 0 for single-label data.

    In multi-label classification, the initial score of a new label is the log-odds of its frequency. With a score of 0,
    its probability would be 0.5.
    """
    if not multi_label:
        return 0.0
    known = set(before.label_names) if before.multi_label is not None else set()
    return np.where([name in known for name in new], 0.0, BinaryCrossEntropy(len(new)).outputs_for(priors))


def convert_ngrams(
    before: Model, change: NDArray[np.float64], settings: TrainSettings, words: int
) -> NgramFeatures | None:
    """Return the n-gram features of a model, with the outputs of the linear models converted to new scores.

    If the model has no n-gram features, return features without n-grams, or None if the settings disable the features.

    Args:
        before: model that training starts from.
        change: (E0, E) matrix that converts old scores to new scores.
        settings: training settings; only ``ngrams`` is used.
        words: vocabulary size V.
    """
    known, projection = before.ngram_features, before.network.text_projection
    if known is not None and projection is not None:
        return with_scores(known, projection, _network_factor(before) * to_scores(before.network.loss) @ change)
    if not settings.ngrams:
        return None
    width = change.shape[1]
    none, nothing = np.zeros((0, 0), np.float32), np.zeros((0, width), np.float32)
    return NgramFeatures(settings.ngrams, words, np.zeros(0, np.int64), none, nothing, np.zeros(width, np.float32))


def convert_regions(before: Model, change: NDArray[np.float64], loss: Loss) -> RegionFusion | None:
    """Return the region classifier of a model, with outputs for the new labels, or None if the model has none.

    Args:
        before: model that training starts from.
        change: (E0, E) matrix that converts old scores to new scores.
        loss: loss of the new model, which determines the number of outputs.
    """
    if before.regions is None:
        return None
    classifier, (_, weight) = before.regions.classifier, before.regions.weights
    conversion = weight / before.temperature * to_scores(before.network.loss) @ change @ to_outputs(loss)
    return RegionFusion(
        replace(
            classifier,
            output_weights=(classifier.output_weights @ conversion).astype(np.float32),
            output_bias=(classifier.output_bias @ conversion).astype(np.float32),
        ),
        (1.0, 1.0),
    )


def _network_factor(before: Model) -> float:
    """Return the factor by which a model multiplies the outputs of its network."""
    return (1.0 if before.regions is None else before.regions.weights[0]) / before.temperature


def set_weights(
    model: Model, before: Model, change: NDArray[np.float64], correction: Correction, scale: PooledScale
) -> None:
    """Copy the weights of ``before`` to ``model``, and add the correction to the weights of the head.

    Args:
        model: new model, modified in place.
        before: model that training starts from.
        change: (E0, E) matrix that converts old scores to new scores.
        correction: fitted correction.
        scale: map that was applied to the pooled vectors before the correction was fitted.
    """
    old = dict(before.network.parameters())
    for name, parameter in model.network.parameters():
        if not name.startswith(("head.", "text_projection.")):
            np.copyto(parameter.value, old[name].value)
    new_outputs = to_outputs(model.network.loss)
    outputs_to_scores = to_scores(before.network.loss) @ change  # (old outputs, E), converts old outputs to new scores
    pooled_weights = correction.weights[change.shape[0] :] * scale.factor[:, None]
    head, new = before.network.head, model.network.head
    bias = np.zeros(len(outputs_to_scores)) if head.bias is None else head.bias.value
    converted_weights = head.weight.value * _network_factor(before) @ outputs_to_scores
    new.weight.value[...] = (converted_weights + pooled_weights) @ new_outputs
    if new.bias is not None:
        converted_bias = bias * _network_factor(before) @ outputs_to_scores
        new_bias = converted_bias - scale.mean @ pooled_weights + correction.bias
        new.bias.value[...] = new_bias @ new_outputs
    pass_on_scores(model.network)
