"""A region classifier (:mod:`nlptx.regions`) as part of a model.

The outputs of the model are a x + b y, where x are the outputs of the network, y are the outputs of the region
classifier, and a and b are two weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.classifier.inference import are_too_large
from nlptx.errors import CorruptError
from nlptx.regions import RegionClassifier, read_region_classifier, region_arrays, region_outputs_without_each

# Keys of the JSON values in a model file: the weights a and b, and the number of groups of filters.
_WEIGHTS, _GROUPS = "region_fusion", "region_groups"
# Largest value of a or b that is accepted in a model file.
_MAX_WEIGHT = 100.0


def combined(regions: RegionFusion | None, outputs: NDArray, texts: Sequence[NDArray[np.integer]]) -> NDArray:
    """Return the outputs (B, outputs) of a model, given its network's outputs and the word ids of each text."""
    return outputs if regions is None else regions.combine(outputs, texts)


@dataclass(frozen=True)
class RegionFusion:
    """A region classifier, and the weights with which its outputs are combined with those of the network.

    Args:
        classifier: the region classifier.
        weights: the weight a of the network's outputs and the weight b of the region classifier's outputs.
    """

    classifier: RegionClassifier
    weights: tuple[float, float]

    def combine(self, outputs: NDArray, texts: Sequence[NDArray[np.integer]]) -> NDArray:
        """Return the outputs (B, outputs) of the model, given the network's outputs and the word ids of each text."""
        return self._sum(outputs, self.classifier.outputs(texts))

    def combine_without_each(self, outputs: NDArray, ids: NDArray[np.integer], count: int) -> NDArray:
        """Return the outputs of the model for a text with each of its first ``count`` words left out in turn.

        Args:
            outputs: (count, outputs) outputs of the network, one row per left-out word.
            ids: word ids of the text, at least two.
            count: number of words to leave out.
        """
        return self._sum(outputs, region_outputs_without_each(self.classifier, ids)[:count])

    def _sum(self, outputs: NDArray, region_outputs: NDArray) -> NDArray:
        a, b = self.weights
        return a * outputs + b * region_outputs

    def with_words(self, words: int) -> Self:
        """Return a copy for a vocabulary that has grown to ``words`` words, with the new words at the end."""
        ngrams = self.classifier.ngrams.with_words(words)
        return replace(self, classifier=replace(self.classifier, ngrams=ngrams))

    def can_overflow(self) -> bool:
        """Return whether any weight is so large that computing in float32 may overflow."""
        return are_too_large(self.classifier.arrays().values())

    def as_float64(self) -> Self:
        """Return a copy that computes in float64."""
        return replace(self, classifier=self.classifier.as_float64())

    def arrays(self) -> dict[str, NDArray]:
        """Return the arrays to store."""
        return region_arrays(self.classifier)

    def details(self) -> dict[str, Any]:
        """Return the JSON values to store."""
        return {_WEIGHTS: list(self.weights), _GROUPS: self.classifier.groups}

    @classmethod
    def read(cls, artifact: Artifact, words: int, outputs: int) -> Self:
        """Read the region classifier and the weights from a model file.

        The arguments are those of :func:`nlptx.regions.serialization.read_region_classifier`.

        Raises:
            CorruptError: an array or a weight is invalid.
        """
        weights, groups = artifact.details.get(_WEIGHTS), artifact.details.get(_GROUPS)
        if type(groups) is not int or groups < 1:
            raise CorruptError(f"the number of groups of its region filters is {groups!r}")
        if (
            not isinstance(weights, list)
            or len(weights) != 2
            or not all(type(weight) is float and 0 <= weight <= _MAX_WEIGHT for weight in weights)
        ):
            raise CorruptError(f"the weights of its region classifier are {weights!r}")
        return cls(read_region_classifier(artifact, words, outputs, groups), (weights[0], weights[1]))
