"""Assigns rows to the same folds as ``nlptx crossvalidate --shuffle``, and averages the reports of all folds."""

from __future__ import annotations

from typing import Any

import numpy as np

from nlptx.metrics import wilson_interval
from nlptx.sampling.stratified_folds import stratified_folds


def folds(labels: Any, count: int, seed: int) -> np.ndarray:
    """Return the fold, 0 to count - 1, of each row; each label is spread evenly over the folds."""
    _, strata = np.unique(np.asarray(labels), return_inverse=True)
    return stratified_folds(strata, count, np.random.default_rng(seed), shuffle=True)


def pool(reports: list[dict]) -> dict:
    """Return the mean of reports, weighted by number of texts, with the accuracy interval for all texts together."""
    texts = [report["texts"] for report in reports]
    pooled = {}
    for name, value in reports[0].items():
        if isinstance(value, int | float):
            pooled[name] = float(np.average([report[name] for report in reports], weights=texts))
    return {
        **pooled,
        "texts": sum(texts),
        "interval": wilson_interval(round(pooled["accuracy"] * sum(texts)), sum(texts)),
        "folds": [{"accuracy": report["accuracy"], "seconds": report.get("seconds", 0)} for report in reports],
        "chosen": [report.get("chosen", {}) for report in reports],
    }
