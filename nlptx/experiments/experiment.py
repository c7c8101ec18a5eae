"""The labelled texts of an experiment, their folds, and the settings with which a model is trained for each fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.label_sets import find_label_sets
from nlptx.classifier.label_types import find_labels
from nlptx.classifier.model import Model
from nlptx.embeddings.embeddings import Embeddings
from nlptx.errors import DataError
from nlptx.sampling.copies import first_copies
from nlptx.sampling.same_texts import normalized
from nlptx.sampling.splits import stratified_split
from nlptx.sampling.stratified_folds import grouped_folds, sample_groups, stratified_folds
from nlptx.settings import TrainSettings
from nlptx.training.embedding_builder import EmbeddingBuilder
from nlptx.training.fingerprint import Fingerprint, digest_artifact, digest_rows
from nlptx.training.labels import check_usable, order_labels
from nlptx.training.targets import strata


@dataclass(frozen=True)
class Recipe:
    """Everything that determines how a model is trained in an experiment, except the texts.

    Args:
        train: training settings.
        vectors: word vectors, or an object that makes them from the training texts of each fold and the unlabelled
            texts; None if ``start`` is given.
        start: existing model from which training starts, or None.
    """

    train: TrainSettings = TrainSettings()
    vectors: Embeddings | EmbeddingBuilder | None = EmbeddingBuilder()
    start: Model | None = None

    def fingerprint(self) -> Fingerprint:
        """Return a fingerprint of the recipe, which covers neither the seed nor the texts of the experiment."""
        settings = self.train.to_dict()
        digests = {"embeddings": "", "model to start from": ""}
        if isinstance(self.vectors, EmbeddingBuilder):
            stages = {"cooccur": self.vectors.cooccur, "pca": self.vectors.pca}
            settings |= {
                f"{stage}.{name}": value
                for stage, stage_settings in stages.items()
                for name, value in stage_settings.to_dict().items()
            }
            settings["pca.seed"] = self.vectors.seed
            digests["data that was left out"] = digest_rows(self.vectors.more_texts)
        elif self.vectors is not None:
            digests["embeddings"] = digest_artifact(self.vectors.to_artifact())
        if self.start is not None:
            digests["model to start from"] = digest_artifact(self.start.to_artifact())
        return Fingerprint(settings, 0, digests)


@dataclass(frozen=True)
class Experiment:
    """Labelled texts that are split into folds.

    Args:
        texts: the N texts.
        labels: label of each text, or a tuple of labels for each text (multi-label).
        folds: number of folds.
        groups: group of each text; texts of the same group are in the same fold. Without groups, the texts of each
            label, in their order, are cut into short stretches, and each stretch stays in one fold (but see
            ``shuffle``). Texts that differ only in case or white space stay together too, unless they occur very often
            (see :mod:`nlptx.sampling.copies`).
        shuffle: whether to assign individual texts to folds instead of stretches of consecutive texts; ignored if there
            are groups.
        weights: weight of each text in training, above 0; None if all weights are 1. The measures of quality ignore the
            weights.
        unlabelled: texts without labels, which are used for training in every fold; see :func:`nlptx.fit`.
        lexicon: word or phrase -> value, used as a prior for the n-gram features; see :func:`nlptx.fit`.
        separator: string between the labels of a text in a table; None for single-label data.

    Raises:
        LabelError: there are fewer than two labels, or a label is empty, is ``?``, or would become another label if it
            were written to a file and read again. The error is raised when the labels are first used.
    """

    texts: Sequence[str]
    labels: Sequence[str] | Sequence[tuple[str, ...]]
    folds: int = 5
    groups: Sequence[str] | None = None
    shuffle: bool = False
    weights: Sequence[float] | None = None
    unlabelled: Sequence[str] = ()
    lexicon: Mapping[str, float] = field(default_factory=dict)
    separator: str | None = None

    @cached_property
    def label_names(self) -> list[str]:
        """Names of the C labels, in ascending order if they form a scale, such as numbers, else in code-point order."""
        distinct = {label for labels in self._sets for label in labels}
        check_usable(distinct)
        return order_labels(distinct)[0]

    @cached_property
    def targets(self) -> NDArray:
        """Class of each text, (N,) int64; for multi-label data, (N, C) bool, True where a text has a class."""
        if self.separator is None:
            return find_labels([label for (label,) in self._sets], self.label_names)
        return find_label_sets(self._sets, self.label_names)

    @property
    def _sets(self) -> list[tuple[str, ...]]:
        return [(labels,) if isinstance(labels, str) else labels for labels in self.labels]

    def fold_of_each(self, seed: int) -> NDArray[np.int64]:
        """Return the fold of each text, (N,), from 0.

        Raises:
            DataError: there are fewer texts or groups than folds.
        """
        stratum, rng = strata(self.targets, 1 / self.folds), np.random.default_rng(seed)
        if self.groups is not None:
            return grouped_folds(stratum, self.groups, self.folds, rng)
        return stratified_folds(stratum, self.folds, rng, shuffle=self.shuffle, first=self._first_copies)

    @cached_property
    def _first_copies(self) -> NDArray[np.int64]:
        return first_copies(normalized(text).encode("utf-8", "replace") for text in self.texts)

    def sample(self, count: int, seed: int) -> Experiment:
        """Return an experiment with at most ``count`` of the texts, and about the same label frequencies as ``self``.

        If there are groups, each of them is kept or left out as a whole. Without groups, stretches of consecutive texts
        are kept or left out together.

        Raises:
            DataError: there are fewer groups in the sample than folds.
        """
        share, rng = count / len(self.texts), np.random.default_rng(seed)
        stratum = strata(self.targets, share)
        if self.groups is None:
            rows = stratified_split(stratum, share, rng)[1]
            while len(rows) > count:  # the number of texts per label is rounded, so the sum can exceed `count`
                most_frequent = np.bincount(stratum[rows]).argmax()
                rows = np.delete(rows, np.flatnonzero(stratum[rows] == most_frequent)[-1])
            kept = rows.tolist()
        else:
            kept = sample_groups(stratum, self.groups, count, rng).tolist()
            if (groups := len({self.groups[row] for row in kept})) < self.folds:
                raise DataError(
                    f"a sample of {count:,} texts contains only {groups} whole groups; expected one for each of the"
                    f" {self.folds} folds",
                    hint="Use more texts, or fewer `folds`.",
                )
        return replace(
            self,
            texts=[self.texts[row] for row in kept],
            labels=[self.labels[row] for row in kept],
            groups=None if self.groups is None else [self.groups[row] for row in kept],
            weights=None if self.weights is None else [self.weights[row] for row in kept],
        )

    def rare_labels(self) -> list[str]:
        """Return the labels with fewer texts than there are folds, which are therefore missing from some folds.

        If there are groups or equal texts, other labels may be missing from some folds too.
        """
        counts = dict.fromkeys(self.label_names, 0)
        for labels in self._sets:
            for label in labels:
                counts[label] += 1
        return [name for name, count in counts.items() if count < self.folds]

    def fingerprint(self, recipe: Recipe) -> Fingerprint:
        """Return a fingerprint of everything that determines the result of an experiment, except the seeds."""
        base = recipe.fingerprint()
        rows = [list(self.texts), ["\0".join(labels) for labels in self._sets]]
        digests = {
            "data": digest_rows(*rows),
            "group column": "" if self.groups is None else digest_rows(self.groups),
            "weight column": ""
            if self.weights is None
            else digest_rows([repr(float(weight)) for weight in self.weights]),
            "unlabelled data": digest_rows(self.unlabelled) if self.unlabelled else "",
            "lexicon": digest_rows(list(self.lexicon), list(map(repr, self.lexicon.values()))) if self.lexicon else "",
        }
        settings = {**base.settings, "folds": self.folds, "shuffle": self.shuffle, "label_separator": self.separator}
        return Fingerprint(settings, 0, digests | base.digests)
