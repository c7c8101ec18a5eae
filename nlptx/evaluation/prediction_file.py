"""Reads predictions for labelled texts from a table that any program may have written.

The table is a .csv, .tsv, .jsonl or .parquet file with these columns:

- the text and its true label, in the columns that the reading options name;
- ``predicted``, ``predicted_label`` or ``prediction``, the predicted label. An empty cell or ``?`` means no answer,
  which counts as wrong. (In multi-label data, an empty cell or list means that no label is predicted, and null in JSON
  lines means no answer.) If no column has one of these three names, a column ``label`` is read as the predicted
  labels, provided that the true labels are in another column and there are columns ``prob_LABEL`` or ``confidence``. If
  there is no column with predicted labels at all, the prediction is the most probable label;
- ``prob_LABEL``, the probability of each label (optional);
- ``confidence``, the probability of the predicted label (optional; ignored if there are columns ``prob_LABEL``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.label_sets import find_label_sets
from nlptx.corpus.columns import matching_columns
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.document import Document
from nlptx.corpus.label_map import label_map_notes, map_labels
from nlptx.corpus.label_sets import split_cells
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.errors import DataError
from nlptx.evaluation.file_kind import with_format
from nlptx.evaluation.label_spellings import match_labels
from nlptx.evaluation.label_union import note_spellings, unite_labels
from nlptx.evaluation.labelled_data import LabelledData
from nlptx.evaluation.labelled_predictions import NO_ANSWER, LabelledPredictions
from nlptx.evaluation.prediction_cells import read_label_probabilities, read_probability
from nlptx.evaluation.prediction_checks import check_common_label, check_true_labels
from nlptx.evaluation.table_columns import PredictionCells, newest_column, predicted_column, read_cells
from nlptx.evaluation.text_matching import (
    match_rows,
    repeated_for_seeds,
    without_left_out,
    without_missing,
    without_quotes,
)


def read_predictions(
    path: str,
    reading: ReadOptions | None = None,
    on_note: Callable[[str], None] = lambda note: None,
    data: LabelledData | None = None,
    complete: bool = True,
    needs_labels: bool = True,
    found_labels: set[str] | None = None,
) -> LabelledPredictions:
    """Read predictions from a table that any program may have written.

    Args:
        path: path of the table.
        reading: names of the columns, replacements for labels, and the label separator for multi-label data; None for
            the defaults. Predicted labels are replaced too, unless they seem to have been replaced already, as in
            tables that nlptx writes.
        on_note: called with notes, such as how labels are read and how many texts have no answer.
        data: the texts and their true labels; None if the table contains the true labels. The rows of the table are
            matched to ``data`` by text and need no true label. If ``data`` is given and the table has no column of
            predicted labels (see :func:`.predicted_column`), the prediction is the most probable label if there are
            columns ``prob_LABEL``; otherwise, the label column is read as the prediction, and a note says so.
        complete: whether the table must have a row for each text of ``data``; if False, texts without a row are left
            out, and a note gives the number of these texts.
        needs_labels: whether multi-label data needs a column with the predicted labels; if False, and if there is no
            such column, the predicted labels are those with a probability of at least 0.5.
        found_labels: set to which this function adds the labels in the table, as they are before the label map is
            applied. If a set is passed, the caller must check that the labels that the label map replaces occur in at
            least one input; otherwise, this function does so.

    Raises:
        DataError: the table has no predictions, a probability is not a number from 0 to 1, the probabilities of a text
            do not sum to 1, or the texts differ from the texts of ``data``.
        LabelError: a text has no true label.
    """
    reading = with_format(path, reading or ReadOptions(), only_input=data is None)
    corpus = Corpus([path], reading, on_note)
    labelled = LabelledDocuments(corpus)
    documents = list(labelled if data is None else corpus)
    if not documents:
        raise DataError("the table has no rows", where=path)
    if data is not None:
        documents = without_left_out(without_quotes(documents, data), data)
        if not complete:
            data = without_missing(data, documents, on_note)
        data = repeated_for_seeds(data, len(documents))
        to_match = _labels_to_match(documents, reading, data)
        documents = [documents[row] for row in match_rows(documents, data.documents, to_match)]
    cells = read_cells(path, documents, reading, data is not None, needs_labels, on_note)
    labels, named, of_columns, unmapped = _true_and_predicted(path, cells, documents, reading, data, on_note)
    unmapped |= labelled.removed_labels
    if found_labels is None:
        for note in label_map_notes(reading.label_map, unmapped):
            on_note(note)
    else:
        found_labels |= unmapped
    spelling, names, is_ordered = unite_labels(
        (label for each in labels for label in each),
        [*(label for each in named if each is not None for label in each), *of_columns],
        path,
        on_note,
    )
    labels = [tuple(spelling[label] for label in each) for each in labels]
    named = [None if each is None else tuple(spelling[label] for label in each) for each in named]
    of_columns = [spelling[label] for label in of_columns]
    check_common_label(path, labels, [tuple(of_columns), *filter(None, named)])
    multi_label = reading.label_separator is not None
    columns = list(cells.probability_columns.values())
    probabilities = read_label_probabilities(documents, columns, of_columns, names, not multi_label, on_note)
    targets = find_label_sets(labels, names)
    predicted = find_label_sets([each or () for each in named], names)
    if not multi_label:
        targets, predicted = targets.argmax(axis=1), predicted.argmax(axis=1)
        predicted = np.where([each is None for each in named], NO_ANSWER, predicted)
    if cells.predicted is None and probabilities is not None:
        predicted = probabilities >= 0.5 if multi_label else probabilities.argmax(axis=1)
    answered = cells.answered if multi_label else predicted != NO_ANSWER
    confidence = _confidence(documents, predicted, answered, probabilities)
    if cells.predicted is None and data is None:
        check_true_labels(documents, targets, predicted, confidence)
    documents = documents if data is None else data.documents
    is_scale = is_ordered and not multi_label
    predictions = LabelledPredictions(
        path,
        names,
        is_scale,
        documents,
        targets,
        predicted,
        probabilities,
        confidence,
        answered=answered,
        left_out=labelled.left_out,
    )
    if note := predictions.unanswered_note:
        on_note(f"{path}: {note}")
    return predictions


def _labels_to_match(
    documents: Sequence[Document], reading: ReadOptions, data: LabelledData
) -> tuple[list[tuple[str, ...]], ...] | None:
    """Return the true labels in the table and in the data for comparison, with the label map applied and in lower case.

    Return None if the labels cannot be compared, because the label column of the table may contain predictions, or
    because the label map may already have been applied to the table.
    """
    column = predicted_column(documents, reading.label_column, labels_known=True)
    if column is None or matching_columns(reading.label_column, [column]):
        return None
    written, expected = [_split(document.label, reading) for document in documents], data.label_tuples
    old, new = set(chain(*written)), set(chain(*expected))
    if old & reading.label_map.keys() and old <= new:
        return None
    mapped = (map_labels(labels, reading.label_map) for labels in written)
    return tuple([tuple(map(str.casefold, labels)) for labels in each] for each in (mapped, expected))


def _split(cell: str | None, reading: ReadOptions) -> list[str]:
    """Return the labels in a cell."""
    separator = reading.label_separator
    return [cell or ""] if separator is None else split_cells([cell or ""], separator)[0]


def _true_and_predicted(
    path: str,
    cells: PredictionCells,
    documents: Sequence[Document],
    reading: ReadOptions,
    data: LabelledData | None,
    on_note: Callable[[str], None],
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...] | None], list[str], set[str]]:
    """Replace the labels in a table according to the label map.

    Returns:
        The true labels of each text; its predicted labels, None if there is no answer; the label of each column of
        probabilities; and the set of all labels before the replacement.
    """
    if data is not None:
        true = data.label_tuples
        before = set(data.replaced)
    else:
        written = [_split(document.label, reading) for document in documents]
        true = [tuple(map_labels(labels, reading.label_map)) for labels in written]
        before = set(chain(*written))
    multi_label = reading.label_separator is not None
    predicted = [
        _split(cell, reading) if cell or multi_label else None for cell in cells.predicted or [None] * len(documents)
    ]
    predicted_labels = {*chain(*filter(None, predicted)), *cells.probability_columns}
    label_map = {old: new for old, new in reading.label_map.items() if new}  # an empty NEW removes only true labels
    in_data = before if data is None else {*before, *chain(*true)}
    spelling = _other_spellings(predicted_labels, label_map, in_data)
    note_spellings(spelling, path, on_note)
    label_map |= {label: label_map[old] for label, old in spelling.items()}
    if predicted_labels <= {*chain(*true), *label_map.values()}:
        if predicted_labels & label_map.keys():
            on_note(
                f"{path}: the predicted labels seem to be replaced already, so `label_map` is not applied to them; if"
                " that is wrong, replace the labels in the file"
            )
        label_map = {}
    named = [None if labels is None else tuple(map_labels(labels, label_map)) for labels in predicted]
    return (
        true,
        named,
        map_labels(cells.probability_columns, label_map),
        predicted_labels | before | {*spelling.values()},
    )


def _other_spellings(predicted: set[str], label_map: Mapping[str, str], in_data: set[str]) -> dict[str, str]:
    """Return the predicted labels that mean a label to replace, but are spelled differently, such as 1.0 instead of 1.

    A predicted label is left out if it may also mean another label of the data.
    """
    labels = sorted(label_map.keys() | in_data)
    matches = {label: match_labels([label], labels) for label in sorted(predicted.difference(labels))}
    return {label: match[label] for label, match in matches.items() if match and match[label] in label_map}


def _confidence(
    documents: Sequence[Document],
    predicted: NDArray,
    answered: NDArray[np.bool_],
    probabilities: NDArray[np.float64] | None,
) -> NDArray[np.float64] | None:
    """Return the probability of each prediction, (texts,); 0 for a text without an answer."""
    if probabilities is not None and predicted.ndim == 2:
        confidence = np.where(predicted, probabilities, 1 - probabilities).prod(axis=1)
    elif probabilities is not None:
        confidence = probabilities[np.arange(len(documents)), predicted]
    else:
        if (column := newest_column(documents, "confidence")) is None:
            return None
        rows = zip(documents, answered.tolist(), strict=True)
        confidence = np.array([read_probability(document, column) if has else 0.0 for document, has in rows])
    return np.where(answered, confidence, 0.0)
