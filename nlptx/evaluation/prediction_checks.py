"""Checks predictions that were read from a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nlptx.corpus.document import Document
from nlptx.errors import DataError, listed
from nlptx.evaluation.prediction_cells import read_probability
from nlptx.evaluation.table_columns import newest_column

# Maximum number of labels listed in a message.
_MAX_LISTED = 20


def check_common_label(path: str, true: list[tuple[str, ...]], predicted: list[tuple[str, ...]]) -> None:
    """Raise DataError if several true labels occur, but none of them is among the predicted labels."""
    true_labels, predicted_labels = ({label for each in labels for label in each} for labels in (true, predicted))
    if len(true_labels) > 1 and predicted_labels and not true_labels & predicted_labels:
        raise DataError(
            f"no true label ({listed(sorted(true_labels), _MAX_LISTED)}) is among the predicted labels"
            f" ({listed(sorted(predicted_labels), _MAX_LISTED)})",
            where=path,
            hint="Rename the labels with `label_map`.",
        )


def check_true_labels(
    documents: Sequence[Document],
    targets: NDArray,
    predicted: NDArray,
    confidence: NDArray[np.float64] | None,
) -> None:
    """Raise DataError if the labels that were read as true labels seem to be predictions.

    They seem to be predictions if each is the most probable label, and the column ``confidence`` contains its
    probability.
    """
    column = newest_column(documents, "confidence")
    if column is not None and confidence is not None and np.array_equal(targets, predicted):
        written = [read_probability(document, column) for document in documents]
        if np.allclose(written, confidence, atol=1e-3):
            raise DataError(
                "its labels seem to be predictions, not true labels: each is the most probable label, and the column"
                f" {column!r} contains its probability",
                where=documents[0].source,
                hint="Pass the labelled data too, or add the true labels to the table.",
            )
