"""Gets the predictions that ``nlptx check`` uses, from a table or from a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nlptx.cli.options.shared import BUNDLED, CommonOptions
from nlptx.cli.steps.seen_data import SEEN, seen_in
from nlptx.corpus.read_options import ReadOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from nlptx.classifier.decision import Decision
    from nlptx.classifier.model import Model
    from nlptx.evaluation.labelled_data import LabelledData
    from nlptx.evaluation.labelled_predictions import LabelledPredictions
    from nlptx.runtime.workers import Workers


class GivenModel:
    """The model given with ``-m``.

    Args:
        name: path of the model file, or ``bundled``.
        common: options shared by all commands.
    """

    def __init__(self, name: str, common: CommonOptions) -> None:
        from nlptx.classifier.model import Model

        self.name = name
        self.model: Model = Model.load(None if name == BUNDLED else name)
        self.common = common

    def predict_labelled(self, labelled: LabelledData, workers: Workers) -> LabelledPredictions:
        """Return the predictions for labelled texts."""
        from nlptx.evaluation.labelled_predictions import predict_labelled, scorer

        note = self.common.reporter.note
        if seen := seen_in(self.model, labelled):
            note(f"{SEEN[seen]}; a model repeats the wrong labels that it has learned, so fewer wrong labels are found")
        return predict_labelled(self.model, self.name, labelled, scorer(self.model, workers), note)

    def predict(self, texts: list[str], workers: Workers) -> tuple[list[str], NDArray[np.float64], Decision]:
        """Return the names of the C labels, the probabilities (B, C) for B texts, and the rule that chooses labels."""
        return self.model.label_names, self.model.predict_proba(texts, workers), self.model.decision


def predictions_of_table(
    path: str, labelled: LabelledData, reading: ReadOptions, common: CommonOptions
) -> LabelledPredictions:
    """Return the predictions that a table contains for labelled texts. Texts that are not in the table are left out.

    The check uses only the probabilities, so the table needs no predicted labels.
    """
    from nlptx.evaluation.prediction_file import read_predictions

    reading = replace(reading, format="auto", delimiter=None)
    return read_predictions(path, reading, common.reporter.note, labelled, complete=False, needs_labels=False)
