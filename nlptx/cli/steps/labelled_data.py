"""Checks labelled data before training, so that messages name the file and the line."""

from __future__ import annotations

from collections.abc import Sequence

from nlptx.corpus.source import first_name
from nlptx.corpus.training_data import TrainingTexts
from nlptx.errors import DataError, LabelError


def check_labelled_data(training: TrainingTexts, names: Sequence[str], separator: str | None) -> None:
    """Check the weights of the training texts and, unless a text may have several labels, the labels.

    Args:
        training: the texts, read from the files.
        names: names of the labelled inputs.
        separator: string between two labels of a text; None if every text has one label.

    Raises:
        DataError: all weights are 0.
        LabelError: a label cannot be used, or all labels are the same.
    """
    from nlptx.training.labels import check_at_least_two, check_usable

    if training.weights is not None and not any(training.weights):
        raise DataError("the weights of all texts are 0, so there are no texts to train on", where=first_name(names))
    if separator is not None or not training.first_rows:
        return
    where, hint = first_name(names), ""
    try:
        for label, position in training.first_rows.items():
            where = position
            check_usable([label])
        where, hint = first_name(names), "In a table, `label_column` names the column that contains the labels."
        weights = [1.0] * len(training.labels) if training.weights is None else training.weights
        check_at_least_two(str(label) for label, weight in zip(training.labels, weights, strict=True) if weight)
    except LabelError as error:
        error.where, error.hint = where, error.hint or hint
        raise
