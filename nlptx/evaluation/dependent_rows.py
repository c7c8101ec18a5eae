"""Adjusts the report of a table that has several rows per text, because it covers several seeds.

The rows of a text are not independent, so intervals that treat them as independent would be too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nlptx.classifier.label_set_report import LabelSetReport
from nlptx.evaluation.bootstrap import percentile_interval, resample
from nlptx.evaluation.comparison import group_numbers
from nlptx.evaluation.labelled_predictions import LabelledPredictions
from nlptx.metrics import Report, calibration_noise_floor


def with_dependent_rows(
    report: Report | LabelSetReport, predictions: LabelledPredictions, texts: Sequence[str]
) -> Report | LabelSetReport:
    """Return a report in which the interval of the accuracy and the calibration error by chance allow for such rows.

    Args:
        report: report on the predictions.
        predictions: the rows of the table.
        texts: text of each row.
    """
    from scipy.sparse import csr_matrix

    values = csr_matrix(np.column_stack([np.ones(len(predictions)), predictions.correct]))
    drawn = resample(values, lambda sums: sums[:, 1:] / sums[:, :1], group_numbers(texts))
    report = replace(report, interval=percentile_interval(drawn[:, 0]))
    confidence = predictions.only_answered.confidence
    if confidence is None or not len(confidence):
        return report
    return replace(report, ece_floor=calibration_noise_floor(confidence, repeats=len(texts) / len(set(texts))))
