"""Trains a model on all folds except one, and tests it on that fold."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import score_all
from nlptx.errors import LabelError
from nlptx.experiments.experiment import Experiment, Recipe
from nlptx.experiments.measures import Measures
from nlptx.runtime.workers import Workers
from nlptx.training.feature_cache import FeatureCache
from nlptx.training.fit import fit
from nlptx.training.progress import Progress


@dataclass(frozen=True)
class FoldResult:
    """Predictions for the n texts of a fold, by a model that was trained without them.

    Args:
        seed: seed for the folds and for training.
        fold: number of the fold, from 0.
        rows: (n,) int64 indices of the texts.
        probabilities: (n, C) float64 probabilities of the labels; 0 for a label that no training text had.
        predicted: (n,) int64 predicted class; for multi-label data, (n, C) bool, whether each class is predicted.
        confidence: (n,) float64 probability of the prediction.
        measures: quality of the predictions, compared with the true labels.
        parameters: number of parameters of the model.
        seconds: time for training and testing, in seconds.
    """

    seed: int
    fold: int
    rows: NDArray[np.int64]
    probabilities: NDArray[np.float64]
    predicted: NDArray
    confidence: NDArray[np.float64]
    measures: Measures
    parameters: int
    seconds: float

    def to_record(self) -> dict[str, Any]:
        """Return the result as JSON values."""
        arrays = {name: value.tolist() for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return {**vars(self), **arrays, "measures": self.measures._asdict()}

    @classmethod
    def from_record(cls, record: dict[str, Any], experiment: Experiment, seed: int, fold: int) -> Self:
        """Return the result that was stored by :meth:`to_record`.

        Args:
            record: JSON values.
            experiment: texts and folds.
            seed: expected seed.
            fold: expected number of the fold, from 0.

        Raises:
            KeyError, TypeError, ValueError: the record is not a result for this fold of the experiment.
        """
        targets, classes = experiment.targets, len(experiment.label_names)
        rows = np.flatnonzero(experiment.fold_of_each(seed) == fold)
        if (record["seed"], record["fold"], record["rows"]) != (seed, fold, rows.tolist()):
            raise ValueError("it does not contain exactly the texts of the fold")
        result = cls(
            seed=seed,
            fold=fold,
            rows=rows,
            probabilities=np.array(record["probabilities"], np.float64).reshape(len(rows), classes),
            predicted=np.array(record["predicted"], targets.dtype).reshape((len(rows), *targets.shape[1:])),
            confidence=np.array(record["confidence"], np.float64).reshape(len(rows)),
            measures=Measures.from_record(record["measures"]),
            parameters=int(record["parameters"]),
            seconds=float(record["seconds"]),
        )
        if result.predicted.min() < 0 or result.predicted.max() >= classes:
            raise ValueError("it predicts a label that does not exist")
        return result


def run_fold(
    experiment: Experiment,
    recipe: Recipe,
    seed: int,
    fold: int,
    workers: Workers,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_note: Callable[[str], None] = lambda note: None,
    feature_cache: FeatureCache | None = None,
) -> FoldResult:
    """Train a model on all folds except one, and predict the labels of that fold.

    Args:
        experiment: texts and folds.
        recipe: settings with which the model is trained.
        seed: seed for the folds and for training.
        fold: number of the fold, from 0.
        workers: pool of threads or processes, used for training and testing. The number of workers does not change the
            result.
        on_progress: callback for the progress of the parts of training, such as encoding texts.
        on_note: callback for notes.
        feature_cache: cache of n-gram features that several training runs share; none by default.

    Raises:
        NlptxError: in the same cases as :func:`nlptx.fit`.
    """
    started = time.perf_counter()
    fold_of_each = experiment.fold_of_each(seed)
    rows = np.flatnonzero(fold_of_each == fold)
    kept: NDArray[np.int64] = np.flatnonzero(fold_of_each != fold)
    weights = experiment.weights
    pool = workers.local()  # other threads may be using ``workers`` for other folds
    try:
        model = fit(
            [experiment.texts[row] for row in kept],
            [experiment.labels[row] for row in kept],
            recipe.vectors if recipe.start is None else None,
            recipe.train,
            start=recipe.start,
            unlabelled=experiment.unlabelled,
            sample_weight=None if weights is None else [weights[row] for row in kept],
            lexicon=experiment.lexicon or None,
            label_separator=experiment.separator,
            seed=seed,
            jobs=pool,
            on_progress=on_progress,
            on_note=on_note,
            feature_cache=feature_cache,
        )
    except LabelError as error:
        error.message = f"without the texts of fold {fold + 1}, {error.message}"
        raise
    probabilities, predicted, confidence = _predict(
        model, [experiment.texts[row] for row in rows.tolist()], experiment, pool
    )
    measures = Measures.of(probabilities, predicted, confidence, experiment.targets[rows])
    seconds = round(time.perf_counter() - started, 3)
    return FoldResult(seed, fold, rows, probabilities, predicted, confidence, measures, model.parameters, seconds)


def _predict(
    model: Model, texts: list[str], experiment: Experiment, workers: Workers
) -> tuple[NDArray[np.float64], NDArray, NDArray[np.float64]]:
    """Return the probabilities (n, C) of the C labels in the experiment, the predictions, and the confidences (n,)."""
    scored = score_all(model, texts, workers)
    known = np.array([row.probabilities for row in scored])
    chosen = model.choose(known)
    columns = np.array([experiment.label_names.index(name) for name in model.label_names])
    probabilities = np.zeros((len(texts), len(experiment.label_names)))
    probabilities[:, columns] = known
    if chosen.ndim == 1:
        predicted: NDArray = columns[chosen].astype(np.int64)
    else:
        predicted = np.zeros(probabilities.shape, bool)
        predicted[:, columns] = chosen
    return probabilities, predicted, np.array([row.confidence for row in scored])
