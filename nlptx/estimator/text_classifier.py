"""``TextClassifier``: all stages from raw texts to predictions, with the interface of a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import check_one_label_each, iterate_texts, list_texts
from nlptx.artifacts.container import build
from nlptx.classifier.label_sets import LabelSet
from nlptx.classifier.label_types import Label, find_labels
from nlptx.classifier.model import Model
from nlptx.cli.terminal.reporter import Reporter, print_note
from nlptx.cli.terminal.training_progress import show
from nlptx.errors import DataError, NotFittedError
from nlptx.estimator.arguments import FitArguments, list_true_labels
from nlptx.estimator.metadata_requests import MetadataRequests
from nlptx.estimator.multi_label import MIN_DECISION_VALUE, MIN_PROBABILITY, decision_values, reorder_columns
from nlptx.estimator.parameters import Parameters, to_plain
from nlptx.settings import CountSettings, PcaSettings
from nlptx.training.embedding_builder import EmbeddingBuilder
from nlptx.training.fit import fit
from nlptx.training.sample_weights import list_weights

if TYPE_CHECKING:
    import pandas as pd


class TextClassifier(MetadataRequests, Parameters):
    """Text classifier with the interface of a scikit-learn estimator. scikit-learn need not be installed.

    ``fit`` runs all stages: it counts words, makes word vectors and trains. If the labels are str, the model is
    byte-identical to the model that ``nlptx train`` makes from the same texts, labels and settings. If the labels are
    not str, the model also stores their type. The classifier works with ``clone``, pipelines, ``cross_val_score``,
    ``GridSearchCV``, metadata routing and pickle. To share a model with other people, use ``model_.save``: unlike a
    pickle, the saved file cannot run code when it is loaded.

    Args:
        cooccur: settings for counting, a :class:`nlptx.CountSettings`; None for the defaults.
        pca: settings for PCA, a :class:`nlptx.PcaSettings`; None for the defaults.
        embeddings: initial word vectors, an :class:`nlptx.Embeddings`; by default, they are made from the texts.
        start: trained :class:`nlptx.Model` to start from, such as the bundled model (``Model.load()``), instead of word
            vectors; see :func:`nlptx.fit`.
        seed: seed for all random number generators.
        jobs: number of workers; by default, one per core. The number of workers does not change the result.
        verbose: whether ``fit`` shows progress and notes on standard error. A terminal or notebook shows a progress
            bar; other outputs get lines of text.
        **parameters: any field of :class:`nlptx.TrainSettings`, such as ``epochs``. ``set_params`` and parameter grids
            also accept fields of the other stages, such as ``pca__components``. ``fit`` checks the values of all
            parameters.

    Attributes:
        classes_: (C,) distinct labels, sorted, with the dtype of ``y``; if ``y`` is an indicator matrix, its column
            numbers 0 to C - 1.
        model_: the trained :class:`nlptx.Model`.

    >>> texts, labels = ["a good film", "a bad film", "so good", "so bad"] * 5, [1, 0, 1, 0] * 5
    >>> classifier = TextClassifier(epochs=5, lr=0.01, warmup=0).fit(texts, labels)
    >>> classifier
    TextClassifier(epochs=5, lr=0.01, warmup=0)
    >>> classifier.predict(["good", "bad"])
    array([1, 0])
    >>> classifier.predict_proba(["good", "bad"]).shape
    (2, 2)
    >>> classifier.model_.save("model.npz")
    """

    classes_: NDArray
    model_: Model

    def fit(
        self,
        X: Iterable[str],
        y: Iterable[Label] | Iterable[LabelSet],
        sample_weight: Iterable[float] | None = None,
        *,
        unlabelled: Iterable[str] = (),
        valid: tuple[Iterable[str], Iterable[Label] | Iterable[LabelSet]] | None = None,
    ) -> Self:
        """Train on texts and their labels. If training fails or is interrupted, the classifier is not fitted.

        Args:
            X: training texts: a list, tuple, array, Series or any other iterable of str.
            y: label of each text: str, bool, int or float, all of the same type. For multi-label data, a list, tuple or
                set of str for each text, or an indicator matrix (texts, C) as in scikit-learn, with 1 where a text has
                a label and 0 elsewhere.
            sample_weight: weight of each text; see :func:`nlptx.fit`. Texts with a weight of 0 are used only for the
                word vectors.
            unlabelled: more texts, without labels, for the word vectors, the LSA components, the region filters and
                distillation.
            valid: texts and labels to validate on; by default, part of the training data.

        Raises:
            DataError, DivergenceError, InputTypeError, LabelError, SettingsError: as for :func:`nlptx.fit`.
        """
        vars(self).pop("model_", None)
        vars(self).pop("classes_", None)
        given = FitArguments.of(X, y, sample_weight, unlabelled, valid)
        try:
            with Reporter(quiet=not self.verbose).meter("training") as meter:
                model = fit(
                    given.texts,
                    given.labels,
                    settings=self._train_settings(),
                    **self._vectors(given),
                    valid=given.valid,
                    unlabelled=given.unlabelled,
                    sample_weight=given.weights,
                    label_separator=given.separator,
                    seed=to_plain(self.seed),
                    jobs=to_plain(self.jobs),
                    on_progress=lambda progress: show(progress, meter),
                    on_note=print_note if self.verbose else lambda note: None,
                )
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(f"{type(self).__name__}.fit was interrupted; the classifier is not fitted")
            raise
        model.source = given.source
        self.classes_, self.model_ = given.classes, model
        return self

    def _vectors(self, given: FitArguments) -> dict[str, Any]:
        """Return the arguments of :func:`nlptx.fit` that concern word vectors or the model to start from."""
        if self.embeddings is not None or self.start is not None:
            return {name: getattr(self, name) for name in ("embeddings", "start", "cooccur", "pca")}
        cooccur = CountSettings() if self.cooccur is None else self.cooccur
        pca = PcaSettings() if self.pca is None else self.pca
        return {"embeddings": EmbeddingBuilder(cooccur, pca, more_texts=given.left_out, record=given.corpus)}

    def predict(self, X: Iterable[str]) -> NDArray | list[list[str]]:
        """Return the predicted label of each text, as an array (texts,) with the dtype of ``classes_``.

        For a multi-label model, the form of the result depends on the ``y`` used for training: a list of labels for
        each text or, if ``y`` was an indicator matrix, an indicator matrix (texts, C), int64.

        Raises:
            InputTypeError: ``X`` is not a collection of str.
            NotFittedError: the classifier is not fitted.
        """
        probabilities = self._probabilities(X)
        chosen = self.model_.choose(probabilities)
        if self.model_.multi_label is None:
            return np.array(self.model_.labels, self.classes_.dtype)[chosen]
        if self.classes_.dtype.kind == "i":
            return reorder_columns(chosen.astype(np.int64), self.model_.labels, self.classes_.tolist(), 0)
        return [[str(self.model_.labels[number]) for number in row] for row in self.model_.decision.classes(chosen)]

    def predict_proba(self, X: Iterable[str]) -> NDArray[np.float64]:
        """Return (texts, C) probabilities, in the order of ``classes_``. Raises the same errors as :meth:`predict`.

        For a multi-label model, the probability of a label is 0 if no training text has this label.
        """
        return self._sort_columns(self._probabilities(X))

    def decision_function(self, X: Iterable[str]) -> NDArray[np.float64]:
        """Return the log-probabilities (texts, C); for two labels, return the log-odds of the second label (texts,).

        With ``class_weight="balanced"``, each probability is first divided by the fraction of the training texts that
        have the label, as in :meth:`nlptx.Model.choose`, so that the predicted label always has the largest value.

        For a multi-label model, return the log-odds of each label minus the log-odds of its threshold, (texts, C). The
        values of the predicted labels are at least 0. Raises the same errors as :meth:`predict`.
        """
        probabilities = self._probabilities(X)
        if self.model_.multi_label is not None:
            return self._sort_columns(decision_values(self.model_.multi_label, probabilities), MIN_DECISION_VALUE)
        preferences = self.model_.decision.preferences(probabilities)
        logarithms = self._sort_columns(np.log(np.maximum(preferences, MIN_PROBABILITY)))
        return logarithms if len(self.classes_) > 2 else logarithms[:, 1] - logarithms[:, 0]

    def score(
        self, X: Iterable[str], y: Iterable[Label] | Iterable[LabelSet], sample_weight: Iterable[float] | None = None
    ) -> float:
        """Return the accuracy: the fraction of the texts whose predicted label is correct.

        For a multi-label model, a prediction is correct if it equals the true set of labels (subset accuracy).

        With ``sample_weight``, the accuracy is the weight of the correctly predicted texts divided by the total weight.

        Raises:
            DataError: there are no texts, or the numbers of texts, labels and weights differ.
            InputTypeError, LabelError, NotFittedError: as for :meth:`predict` and :meth:`fit`. LabelError is also
                raised if the labels in ``y`` are str and those of the model are not, or vice versa, or if an indicator
                matrix does not have one column for each of ``classes_``.
        """
        texts = list_texts(X, "X")
        labels = list_true_labels(y, self._fitted(), self.classes_)
        check_one_label_each(texts, labels, ("X", "y"))
        if not texts:
            raise DataError("there is nothing to score: `X` is empty")
        chosen = self.model_.decision.classes(self.model_.choose(self._probabilities(texts)))
        hits = [
            set(true) == {self.model_.labels[number] for number in row}
            for true, row in zip(labels, chosen, strict=True)
        ]
        weights = None if sample_weight is None else list_weights(sample_weight, len(texts), "X")
        return float(np.average(hits, weights=weights))

    def predict_frame(
        self, frame: pd.DataFrame, text_column: str = "text", *, abstain: float = 0.0, prior: bool = False
    ) -> pd.DataFrame:
        """Return a copy of ``frame`` with columns of predictions added; see :meth:`nlptx.Model.predict_frame`."""
        return self._fitted().predict_frame(frame, text_column, to_plain(self.jobs), abstain=abstain, prior=prior)

    def _probabilities(self, X: Iterable[str]) -> NDArray[np.float64]:
        """Return (texts, C) probabilities, with columns in the order of the model's labels."""
        return self._fitted().predict_proba(iterate_texts(X, "X"), to_plain(self.jobs))

    def _sort_columns(self, values: NDArray[np.float64], fill: float = 0.0) -> NDArray[np.float64]:
        """Reorder columns from the order of the model's labels to the order of ``classes_``.

        A multi-label model may lack some labels of ``classes_``; their columns are filled with ``fill``.
        """
        if self.model_.multi_label is not None:
            return reorder_columns(values, self.model_.labels, self.classes_.tolist(), fill)
        return values[:, find_labels(self.classes_.tolist(), self.model_.labels)]

    def _fitted(self) -> Model:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet", hint="Call fit(texts, labels) first.")
        return self.model_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    _estimator_type = "classifier"  # for scikit-learn before 1.6, which does not call __sklearn_tags__

    def __sklearn_tags__(self) -> Any:
        """Return the tags that tell scikit-learn what the estimator accepts. Only scikit-learn calls this method."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_label=True),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, in which the model is an artifact that contains only arrays and plain values."""
        return vars(self) | ({"model_": self.model_.to_artifact()} if self.__sklearn_is_fitted__() else {})

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled state. Raise ArtifactError if the model is damaged."""
        if "model_" in state:
            state = state | {"model_": build(state["model_"], Model.from_artifact, "the pickled classifier")}
        vars(self).update(self._defaults() | state)  # an earlier version may have had fewer parameters
