"""Predictions as columns of a pandas DataFrame."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from nlptx.arguments.collections import check_iterable, iterate_texts
from nlptx.arguments.values import is_missing, with_type
from nlptx.classifier.abstention import check_abstain
from nlptx.classifier.decision import MultiLabelDecision
from nlptx.classifier.label_types import label_name
from nlptx.classifier.prediction_columns import free_names, prediction_columns
from nlptx.classifier.scoring import ScoringModel, score_all
from nlptx.errors import DataError, InputTypeError
from nlptx.runtime.workers import Workers

if TYPE_CHECKING:
    import pandas as pd


def predict_frame(
    model: ScoringModel,
    frame: pd.DataFrame,
    text_column: str = "text",
    jobs: int | Workers | None = None,
    *,
    abstain: float = 0.0,
    prior: bool = False,
) -> pd.DataFrame:
    """Return a copy of a pandas DataFrame, extended by the columns that ``nlptx predict`` adds to a table.

    The columns are ``label``, ``confidence``, ``score`` (if the labels have an order) and one ``prob_<label>`` per
    label. If the table already has a column with the name of a new column, the new column gets the prefix
    ``predicted_``. If the columns of the table are a MultiIndex, the new names are at its first level. Labels have the
    same type as in training; for a multi-label model, ``label`` contains lists. If a text is missing or has no known
    word, or if the confidence is less than ``abstain``, the label is missing (``nlptx predict`` prints ? in this case).

    Args:
        model: the classifier.
        frame: table with one text per row; columns, order and index are kept.
        text_column: name of the column that contains the texts.
        jobs: number of threads, or a :class:`Workers` object; by default, one thread per core. The number of threads
            does not change the result.
        abstain: minimum confidence of a label.
        prior: whether to label missing texts and texts without a known word, if the confidence is at least ``abstain``.
            Such a text gets the most frequent label of the training data or, from a multi-label model, every label
            whose prior (the fraction of the training texts with the label) is at least its threshold.

    Raises:
        ArtifactError: the model's weights are so large that an output is not finite.
        DataError: there is no column ``text_column``.
        InputTypeError: ``frame`` is not a DataFrame, ``text_column`` is not hashable or names several columns, an
            element of the column is neither missing nor a str, or ``abstain`` is not a number.
        SettingsError: ``abstain`` is below 0 or above 1.

    >>> import pandas as pd
    >>> from nlptx import Model
    >>> Model.load().predict_frame(pd.DataFrame({"text": ["I loved it", "a bore"]})).round(2)
             text label  confidence  score  prob_neg  prob_pos
    0  I loved it   pos  ...
    1      a bore   neg  ...
    """
    import pandas as pd

    check_abstain(abstain)
    if not isinstance(frame, pd.DataFrame):
        raise InputTypeError(f"`frame` is {with_type(frame)}; expected a pandas DataFrame")
    try:
        has_column = text_column in frame.columns
    except TypeError:  # `text_column` is not hashable, for example a list
        raise InputTypeError(f"`text_column` is {with_type(text_column)}; expected the name of one column") from None
    if not has_column:
        raise DataError(
            f"`frame` has no column {text_column!r}; its columns are {', '.join(map(str, frame.columns))}",
            hint="Name the column with `text_column`.",
        )
    name = f"frame[{text_column!r}]"
    given = check_iterable(frame[text_column], name, "texts")
    texts = iterate_texts(("" if is_missing(text) else text for text in given), name)
    rows = score_all(model, texts, jobs)
    probabilities = np.array([scored.probabilities for scored in rows]).reshape(len(rows), len(model.labels))
    labels = [
        model.decision.answer(model.labels, scored.chosen) if scored.is_answered(abstain, prior=prior) else None
        for scored in rows
    ]
    # If a Series contains None among numbers, pandas converts the numbers to floats unless the dtype is object.
    with_none = isinstance(model.decision, MultiLabelDecision) or (
        None in labels and not isinstance(model.labels[0], str)
    )
    kind = object if with_none else pd.Series(model.labels).dtype
    columns = prediction_columns(
        list(map(label_name, model.labels)),
        pd.Series(labels, frame.index, kind),
        np.array([scored.confidence for scored in rows], np.float64),
        model.scores(probabilities),
        probabilities.T,
    )
    names = free_names(tuple(columns), tuple(map(str, frame.columns.get_level_values(0))))
    added = pd.DataFrame(dict(zip(names, columns.values(), strict=True)), frame.index)
    if frame.columns.nlevels > 1:
        padding = ("",) * (frame.columns.nlevels - 1)
        added.columns = pd.MultiIndex.from_tuples([(name, *padding) for name in names])
    added.columns.names = frame.columns.names
    result = pd.concat([frame, added], axis=1)
    result.attrs = copy.deepcopy(frame.attrs)
    return result
