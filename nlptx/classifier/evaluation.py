"""``evaluate``: the quality of a model on labelled texts."""

from __future__ import annotations

from collections.abc import Iterable

from nlptx.classifier.label_types import Label, find_labels, list_labels
from nlptx.classifier.model import Model
from nlptx.errors import DataError
from nlptx.metrics import Report
from nlptx.metrics import evaluate as compute_report
from nlptx.runtime.workers import Workers
from nlptx.text.arguments import check_one_label_each, check_type, list_texts


def evaluate(
    model: Model, texts: Iterable[str], labels: Iterable[Label], *, jobs: int | Workers | None = None
) -> Report:
    """Compare a model's predictions with the true labels.

    Args:
        model: the classifier.
        texts: a list, tuple, array, Series or any other iterable of str.
        labels: true label of each text, of the same type as in training.
        jobs: number of threads, or a :class:`Workers` object; by default, one thread per core. The number
            does not change the result.

    Returns:
        Accuracy with its 95 % Wilson interval, macro-F1, ROC-AUC, log-loss (nats), calibration error, precision, recall
        and F1 of each label, and the (C, C) int64 confusion matrix; see :class:`nlptx.metrics.Report`.

    Raises:
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
    texts, labels = list_texts(texts), list_labels(labels)
    check_one_label_each(texts, labels)
    if not texts:
        raise DataError("there is nothing to evaluate: `texts` is empty")
    targets = find_labels(labels, model.labels)
    p = model.predict_proba(texts, jobs)
    return compute_report(p, targets, model.labels, model.values is not None, model.choose(p))
