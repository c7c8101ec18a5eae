"""Compares the predictions of two or more models for the same labelled texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from nlptx.errors import DataError
from nlptx.evaluation.bootstrap import percentile_interval, resample
from nlptx.evaluation.labelled_predictions import LabelledPredictions
from nlptx.evaluation.pair import Difference, Pair, accuracy_p_value, log_loss_p_value, make_pair
from nlptx.evaluation.seeds import texts_of_seeds
from nlptx.evaluation.significance import LEVEL, holm
from nlptx.metrics import NoiseFloor, calibration_error, calibration_noise_floor, log_losses, wilson_interval


@dataclass(frozen=True)
class ModelQuality:
    """The quality of one model; see :class:`nlptx.metrics.Report` for the measures.

    Args:
        source: path of the model or of the table with its predictions.
        accuracy: fraction of the texts with a correct prediction.
        accuracy_interval: 95% interval of the accuracy: a Wilson interval or, if the texts are in groups, a bootstrap
            interval.
        macro_f1: mean F1 of the classes that occur among the true labels.
        log_loss: log-loss in nats; None if there are no probabilities.
        confidence: mean confidence of the texts that have a prediction; None if there are no confidences.
        ece: expected calibration error of these confidences; None if there are none.
        ece_floor: calibration error that a perfectly calibrated model would have by chance; None if ``ece`` is None.
    """

    source: str
    accuracy: float
    accuracy_interval: tuple[float, float]
    macro_f1: float
    log_loss: float | None
    confidence: float | None
    ece: float | None
    ece_floor: NoiseFloor | None


@dataclass(frozen=True)
class Comparison:
    """The comparison of M models on the same texts.

    Args:
        texts: number of predictions per model; with several seeds, a text counts once for each seed.
        groups: number of groups of texts; None if the texts are independent.
        candidates: quality of each model.
        pairs: comparison of each of the other M - 1 models with the first model.
        differences: (M, M) accuracy of the row's model minus accuracy of the column's model.
    """

    texts: int
    groups: int | None
    candidates: list[ModelQuality]
    pairs: list[Pair]
    differences: NDArray[np.float64]


def compare_predictions(
    predictions: Sequence[LabelledPredictions],
    groups: NDArray[np.int64] | None = None,
    resamples: int | None = None,
) -> Comparison:
    """Compare the predictions of two or more models for the same texts.

    Args:
        predictions: predictions of M models, aligned by :func:`nlptx.evaluation.alignment.align`.
        groups: (texts,) number of the group to which each text belongs, for example one group per author; the numbers
            begin at 0. None if the texts are independent.
        resamples: number of bootstrap resamples; None for the default (see :func:`.bootstrap.resample`).

    Raises:
        DataError: there are fewer than two models, or fewer than two groups.
    """
    if len(predictions) < 2:
        raise DataError("there is nothing to compare; at least two models or tables of predictions are needed")
    count = None if groups is None else int(groups.max()) + 1
    if count is not None and count < 2:
        raise DataError("all texts are in one group; two or more groups are needed")
    values = [_values(each) for each in predictions]
    models = len(predictions)

    def measures(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.hstack([_measures(each) for each in np.split(sums, models, axis=1)])

    stacked = hstack(values).tocsr()
    observed = measures(np.asarray(stacked.sum(axis=0)).reshape(1, -1)).reshape(models, -1)
    drawn = resample(stacked, measures, groups, resamples).reshape(-1, models, observed.shape[1])
    p_values = [accuracy_p_value(predictions[0], other, groups) for other in predictions[1:]]
    loss_p_values = {
        index: log_loss_p_value(values[0][:, 2], values[index][:, 2], drawn[:, index, 2] - drawn[:, 0, 2], groups)
        for index in range(1, models)
        if predictions[0].probabilities is not None and predictions[index].probabilities is not None
    }
    corrected = dict(zip(loss_p_values, holm(list(loss_p_values.values())), strict=True))
    pairs = []
    for index, (p_value, corrected_p_value) in enumerate(zip(p_values, holm(p_values), strict=True), start=1):
        differences = [
            Difference(float(value), *percentile_interval(samples))
            for value, samples in zip(observed[index] - observed[0], (drawn[:, index] - drawn[:, 0]).T, strict=True)
        ]
        level = LEVEL / len(p_values) if groups is None else None
        of_pair = p_value, corrected_p_value, corrected.get(index)
        pairs.append(make_pair(predictions[0], predictions[index], differences, of_pair, level))
    texts = texts_of_seeds(predictions[0].documents)
    repeats = 1 if texts is None else len(texts) / len(set(texts))
    candidates = []
    for index, each in enumerate(predictions):
        hits = int(each.correct.sum())
        interval = wilson_interval(hits, len(each)) if groups is None else percentile_interval(drawn[:, index, 0])
        candidates.append(_candidate(each, repeats, interval, *observed[index].tolist()))
    accuracy = np.array([each.accuracy for each in candidates])
    return Comparison(len(predictions[0]), count, candidates, pairs, accuracy[:, None] - accuracy)


def group_numbers(names: Sequence[object]) -> NDArray[np.int64]:
    """Return the group number of each text, from 0, (texts,) int64, given the group name of each text."""
    return np.unique([str(name) for name in names], return_inverse=True)[1].astype(np.int64)


def _values(predictions: LabelledPredictions) -> csr_matrix:
    """Return a matrix (texts, 3 + 3 C) whose column sums determine all measures.

    Each row begins with the constant 1, the correctness of the prediction (1 or 0), and the log-loss (0 if there are no
    probabilities). Three blocks of C values follow, with one value per class: whether the text has the class, whether
    the class is predicted, and whether both hold.
    """
    classes = range(len(predictions.label_names))
    if predictions.targets.ndim == 2:
        true, predicted = predictions.targets, predictions.predicted
    else:
        true, predicted = (each[:, None] == classes for each in (predictions.targets, predictions.predicted))
    losses = np.zeros(len(predictions))
    if predictions.probabilities is not None:
        losses = log_losses(predictions.probabilities, predictions.targets)
    columns = [np.ones(len(predictions)), predictions.correct, losses]
    parts = [np.column_stack(columns), true, predicted, true & predicted]
    return hstack([csr_matrix(part, dtype=np.float64) for part in parts]).tocsr()


def _measures(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return accuracy, macro-F1 and log-loss, (samples, 3), given column sums (samples, 3 + 3 C) of :func:`_values`."""
    texts, correct, losses = sums[:, :3].T
    true, predicted, hits = np.split(sums[:, 3:], 3, axis=1)
    f1 = 2 * hits / np.maximum(true + predicted, 1)
    present = true > 0
    macro_f1 = (f1 * present).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    return np.column_stack([correct / texts, macro_f1, losses / texts])


def _candidate(
    predictions: LabelledPredictions,
    repeats: float,
    interval: tuple[float, float],
    accuracy: float,
    macro_f1: float,
    log_loss: float,
) -> ModelQuality:
    answered = predictions.only_answered
    confidence = answered.confidence if len(answered) else None
    return ModelQuality(
        predictions.source,
        accuracy,
        interval,
        macro_f1,
        None if predictions.probabilities is None else log_loss,
        None if confidence is None else float(confidence.mean()),
        None if confidence is None else calibration_error(confidence, answered.correct),
        None if confidence is None else calibration_noise_floor(confidence, repeats=repeats),
    )
