"""``evaluate``: the quality of a model on labelled texts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.collections import check_iterable, check_one_label_each, list_texts
from nlptx.arguments.values import check_type
from nlptx.classifier.label_sets import LabelSet, find_label_sets, list_label_sets
from nlptx.classifier.label_types import Label, find_labels, list_labels
from nlptx.classifier.model import Model
from nlptx.errors import DataError
from nlptx.evaluation.label_set_report import LabelSetReport, evaluate_sets
from nlptx.metrics import Report, compute_report
from nlptx.runtime.workers import Workers


def evaluate(
    model: Model,
    texts: Iterable[str],
    labels: Iterable[Label] | Iterable[LabelSet],
    *,
    jobs: int | Workers | None = None,
) -> Report | LabelSetReport:
    """Compare a model's predictions with the true labels.

    Args:
        model: the classifier.
        texts: a list, tuple, array, Series or any other iterable of str.
        labels: true label of each text, of the same type as in training. For a multi-label model, each element is a
            list, tuple or set of labels.
        jobs: number of threads, or a :class:`Workers` object; by default, one thread per core. The number of threads
            does not change the result.

    Returns:
        Accuracy with its 95% Wilson interval, macro-F1, ROC-AUC, log-loss (nats), calibration error, precision, recall
        and F1 of each label, and the (C, C) int64 confusion matrix; see :class:`nlptx.metrics.Report`. For a
        multi-label model, a :class:`nlptx.evaluation.label_set_report.LabelSetReport`.

    Raises:
        ArtifactError: the model's weights are so large that an output is not finite.
        DataError: there are no texts, or the numbers of texts and labels differ.
        InputTypeError: ``texts`` is not a collection of str, or a label has an unsupported type.
        LabelError: a label is missing, or is not a label of the model.

    >>> texts = ["I loved it", "what a bore", "a wonderful film", "I fell asleep"]
    >>> report = evaluate(Model.load(), texts, ["pos", "neg", "pos", "neg"])
    >>> report
    <Report: 4 texts, accuracy ...>
    >>> report.confusion.shape
    (2, 2)
    """
    check_type(model, Model, "model")
    texts, given = list_texts(texts), list(check_iterable(labels, "labels", "labels"))
    check_one_label_each(texts, given)
    if not texts:
        raise DataError("there is nothing to evaluate: `texts` is empty")
    targets: NDArray
    if model.multi_label is None:
        targets = find_labels(list_labels(given), model.labels)
    else:
        targets = find_label_sets(list_label_sets(given, model.multi_label.separator), model.labels)
    return evaluate_probabilities(model, model.predict_proba(texts, jobs), targets, model.labels)


def evaluate_probabilities(
    model: Model, probabilities: NDArray[np.float64], targets: NDArray, labels: Sequence[Any]
) -> Report | LabelSetReport:
    """Compare a model's probabilities for one or more texts with the true labels.

    Args:
        model: the classifier.
        probabilities: (texts, C) predicted probabilities.
        targets: (texts,) int64 true class of each text; or (texts, C) bool, True where a text has a class.
        labels: the C labels to list in the report.
    """
    if model.multi_label is not None:
        return evaluate_sets(probabilities, targets, labels, model.multi_label)
    return compute_report(probabilities, targets, labels, model.values is not None, model.choose(probabilities))
