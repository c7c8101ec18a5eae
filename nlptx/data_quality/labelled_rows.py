"""The rows that have a text and a label, with their labels as numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.label_sets import find_label_sets
from nlptx.data_quality.label_errors import MIN_TEXTS
from nlptx.data_quality.rows import DataRows
from nlptx.evaluation.labelled_data import LabelledData


@dataclass(frozen=True)
class LabelledRows:
    """The rows that have a text and a label.

    Args:
        indices: (N,) indices of the rows.
        targets: (N,) int64 class of each text; for multi-label data, (N, C) bool, True where a text has a label.
        label_names: names of the C labels, sorted.
    """

    indices: NDArray[np.int64]
    targets: NDArray
    label_names: list[str]

    @classmethod
    def of(cls, rows: DataRows) -> LabelledRows:
        """Select the rows that have a text and a label."""
        pairs = zip(rows.texts, rows.labels, strict=True)
        indices = [row for row, (text, labels) in enumerate(pairs) if labels is not None and text.strip()]
        labels = [rows.labels[row] or () for row in indices]
        names = sorted({label for each in labels for label in each})
        if rows.separator is not None:
            return cls(np.array(indices, np.int64), find_label_sets(labels, names), names)
        number = {name: index for index, name in enumerate(names)}
        return cls(np.array(indices, np.int64), np.array([number[each[0]] for each in labels], np.int64), names)

    @property
    def obstacle(self) -> str:
        """Reason why no model can be fitted on the rows, or an empty string."""
        if self.targets.ndim == 2:
            with_label = self.targets.sum(axis=0)
            enough = ((with_label >= MIN_TEXTS) & (len(self.targets) - with_label >= MIN_TEXTS)).any()
            needed = f"this needs a label that at least {MIN_TEXTS} texts have and at least {MIN_TEXTS} do not have"
            return "" if enough else needed
        enough = np.sum(np.bincount(self.targets, minlength=1) >= MIN_TEXTS) >= 2
        return "" if enough else f"this needs two labels with at least {MIN_TEXTS} texts each"

    def data(self, rows: DataRows) -> LabelledData:
        """Return the texts and their labels. ``left_out`` of the result contains the texts of all other rows."""
        indices = self.indices.tolist()
        documents = [rows.documents[row] for row in indices]
        left_out = [rows.documents[row].text for row in np.delete(np.arange(len(rows)), self.indices).tolist()]
        sets = [rows.labels[row] or () for row in indices]
        names = [name for labels in sets for name in labels]  # in single-label data, each row has one name
        return LabelledData(documents, names if rows.separator is None else sets, rows.sha256, left_out)
