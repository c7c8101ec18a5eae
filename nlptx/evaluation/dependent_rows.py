"""Adjusts the report of a table that has several rows per text, because it covers several seeds.

The rows of a text are not independent, so intervals that treat them as independent would be too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nlptx.evaluation.bootstrap import resample
from nlptx.evaluation.comparison import group_numbers
from nlptx.evaluation.label_set_report import LabelSetReport
from nlptx.evaluation.labelled_predictions import LabelledPredictions
from nlptx.metrics import Report, calibration_noise_floor, wilson_interval


def with_dependent_rows(
    report: Report | LabelSetReport, predictions: LabelledPredictions, texts: Sequence[str]
) -> Report | LabelSetReport:
    """Return the report with an interval of the accuracy, and a calibration error by chance, for several rows per text.

    The interval is a Wilson interval for n texts, where n gives the mean of n independent predictions the same variance
    as the accuracy has if texts are resampled. The calibration error by chance assumes that the predictions for a text
    are all right or all wrong; if they differ, it is too high.

    Args:
        report: report on the predictions.
        predictions: the rows of the table.
        texts: text of each row.
    """
    from scipy.sparse import csr_matrix

    rows, distinct, share = len(predictions), len(set(texts)), float(predictions.correct.mean())
    values = csr_matrix(np.column_stack([np.ones(rows), predictions.correct]))
    variance = resample(values, lambda sums: sums[:, 1:] / sums[:, :1], group_numbers(texts)).var()
    effective = min(max(share * (1 - share) / variance, distinct), rows) if variance else distinct
    report = replace(report, interval=wilson_interval(share * effective, effective))
    confidence = predictions.only_answered.confidence
    if confidence is None or not len(confidence):
        return report
    return replace(report, ece_floor=calibration_noise_floor(confidence, repeats=rows / distinct))
