"""The trained classifier, which is stored in one file."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import iterate_texts
from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import load, write
from nlptx.classifier.abstention import check_abstain, find_threshold
from nlptx.classifier.decision import Answer, Decision, SingleLabelDecision
from nlptx.classifier.inference import can_overflow, infer
from nlptx.classifier.label_types import label_name
from nlptx.classifier.model_contents import ModelContents
from nlptx.classifier.model_file import arrays_of, bundled_path, details_of, read_arrays, read_details
from nlptx.classifier.prediction_frame import predict_frame
from nlptx.classifier.region_fusion import combined
from nlptx.classifier.scoring import score_texts
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import ArtifactError
from nlptx.io.paths import FilePath
from nlptx.nn import flatten
from nlptx.runtime.pickling import PickledWithoutCache
from nlptx.runtime.workers import Workers

KIND = "model"
# Maximum numbers of labels and of characters in the list of labels in a model's repr.
_MAX_LABELS, _MAX_CHARACTERS = 10, 50


class Model(ModelContents, PickledWithoutCache):
    """A text classifier. :class:`~.model_contents.ModelContents` describes its attributes."""

    def __repr__(self) -> str:
        labels = ", ".join(map(repr, self.labels[:_MAX_LABELS]))
        if len(labels) > _MAX_CHARACTERS or len(self.labels) > _MAX_LABELS:
            labels = labels[:_MAX_CHARACTERS] + " ..."
        return f"<Model: labels {labels}; {len(self.vocabulary):,} words, {self.parameters:,} parameters>"

    @property
    def label_names(self) -> list[str]:
        """Names of the C labels, as printed by the command-line tool."""
        return [label_name(label) for label in self.labels]

    @property
    def parameters(self) -> int:
        """Number of learned values of the network, the word vectors and the region filters, but not of the n-grams."""
        return self.flat.size + self.table.size + (0 if self.regions is None else self.regions.classifier.parameters)

    def encode(self, text: str) -> NDArray[np.int32]:
        """Return the word ids that the model reads in a text; at most ``settings.max_tokens`` if this is set."""
        ids = self.vocabulary.ids_read(self.vocabulary.tokenizer(text))
        return ids[ids >= 0][: self.settings.max_tokens]

    def as_float64(self) -> Self:
        """Return a copy of the model that computes in float64."""
        network = copy.deepcopy(self.network)
        regions = None if self.regions is None else self.regions.as_float64()
        return replace(self, network=network, flat=flatten(network, np.float64), regions=regions)

    def overflow_safe(self) -> Self:
        """Return this model or, if computing in float32 might overflow, a copy that computes in float64."""
        return self.as_float64() if self._can_overflow else self

    @cached_property  # cached, because searching for large weights takes longer than scoring a sentence
    def _can_overflow(self) -> bool:
        return can_overflow(self) or (self.regions is not None and self.regions.can_overflow())

    def probabilities(self, encoded: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
        """Return (B, C) probabilities for B encoded texts. A text without word ids gets the priors of the classes.

        Raises:
            ArtifactError: the weights are so large that the outputs are not finite.
        """
        result = np.tile(self.decision.normalized(self.priors[None]), (len(encoded), 1))
        known = [row for row, ids in enumerate(encoded) if len(ids)]
        if known:
            with np.errstate(all="ignore"):  # overflow is detected in the outputs
                texts = [encoded[row] for row in known]
                outputs = combined(self.regions, infer(self, texts), texts)
            if not np.isfinite(outputs).all():
                raise ArtifactError("the model's weights are so large that its outputs overflow; train the model again")
            result[known] = self.calibrated(outputs)
        return result

    def calibrated(self, outputs: NDArray) -> NDArray[np.float64]:
        """Return calibrated probabilities (B, C), given outputs (B, outputs) before the division by the temperature."""
        return self.as_probabilities(outputs.astype(np.float64) / self.temperature)

    def as_probabilities(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities (B, C), given outputs (B, outputs) that were divided by the temperature."""
        return self.decision.normalized(self.network.loss.probabilities(outputs))

    @property
    def decision(self) -> Decision:
        """The rule that converts probabilities to labels."""
        return SingleLabelDecision(self.priors, self.is_balanced) if self.multi_label is None else self.multi_label

    @property
    def is_balanced(self) -> bool:
        """Whether labels are predicted as if all classes were equally frequent; see :class:`.SingleLabelDecision`."""
        return self.settings.class_weight == "balanced"

    def choose(self, probabilities: NDArray[np.float64]) -> NDArray:
        """Return the predictions for probabilities (B, C); see :mod:`nlptx.classifier.decision`."""
        return self.decision.choose(probabilities)

    def predict_proba(self, texts: Iterable[str], jobs: int | Workers | None = None) -> NDArray[np.float64]:
        """Return (texts, C) probabilities, with columns in the order of ``labels``.

        Args:
            texts: a list, tuple, array, Series or any other iterable of str.
            jobs: number of threads, or a :class:`Workers` object; by default, one thread per core. The number of
                threads does not change the result.

        Raises:
            ArtifactError: the model's weights are so large that an output is not finite.
            InputTypeError: ``texts`` is not a collection of str.
        """
        with closing(score_texts(self, iterate_texts(texts), jobs)) as batches:
            rows = [np.array([scored.probabilities for scored in batch]) for batch in batches]
        return np.concatenate([np.zeros((0, len(self.labels))), *rows])

    def predict(
        self, texts: Iterable[str], jobs: int | Workers | None = None, *, abstain: float | None = None
    ) -> list[Answer | None]:
        """Return the label of each text, as chosen by :meth:`choose`; for a multi-label model, a list of labels.

        Args:
            texts: as in :meth:`predict_proba`.
            jobs: as in :meth:`predict_proba`.
            abstain: minimum confidence of a prediction. The confidence is the probability of the predicted label or,
                for a multi-label model, of the predicted set of labels. A text with a lower confidence, or without a
                known word, gets None instead of a label. By default, every text gets a label, even a text without a
                known word. (``nlptx predict`` prints ``?`` for such a text.)

        Raises:
            ArtifactError: as for :meth:`predict_proba`.
            InputTypeError: ``texts`` is not a collection of str, or ``abstain`` is not a number.
            SettingsError: ``abstain`` is below 0 or above 1.
        """
        if abstain is not None:
            check_abstain(abstain)
        with closing(score_texts(self, iterate_texts(texts), jobs)) as batches:
            return [
                self.decision.answer(self.labels, scored.chosen)
                if abstain is None or scored.is_answered(abstain)
                else None
                for batch in batches
                for scored in batch
            ]

    def threshold(self, max_error: float) -> float:
        """Return the minimum confidence (``abstain``) that limits the error rate of the labels to ``max_error``.

        The limit on the error rate holds at a confidence level of 95%. The threshold is chosen on the held-out texts;
        see :mod:`nlptx.classifier.abstention` for the assumptions.

        Raises:
            ArtifactError, InputTypeError, QualityGateError, SettingsError: as for
                :func:`nlptx.classifier.abstention.find_threshold`.
        """
        return find_threshold(self.error_curve, max_error).confidence

    predict_frame = predict_frame

    def scores(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return (B,) expected label values, in [-1, 1], for (B, C) probabilities; None if the labels have no order."""
        return None if self.values is None else np.clip((probabilities * self.values).sum(axis=1), -1, 1)

    def embeddings(self) -> Embeddings:
        """Return the word vectors after training."""
        table, header = self.table.astype(np.float32), self.to_artifact().header
        return Embeddings(table, self.vocabulary, details={"source": KIND}, made_from=header)

    def to_artifact(self) -> Artifact:
        """Return the model as an artifact, ready to be written to a file."""
        return Artifact(KIND, self.settings.to_dict(), arrays_of(self), self.made_from, details_of(self), self.seed)

    def save(self, path: FilePath) -> None:
        """Write the model to a file atomically. Raises OutputError."""
        write(path, self.to_artifact())

    @classmethod
    def load(cls, path: FilePath | None = None) -> Self:
        """Read a model from a file; by default, the model bundled with nlptx.

        Raises:
            ArtifactError: the file cannot be read, is damaged, is not a model, or was written by a newer nlptx.
            SettingsError: there is no such file.
        """
        return load(bundled_path() if path is None else path, KIND, cls.from_artifact)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> Self:
        """Check an artifact and build a model from it. Raises CorruptError if the artifact is inconsistent."""
        return cls(**read_details(artifact.details), **read_arrays(artifact))
