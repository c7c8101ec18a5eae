"""Tests of ROC and precision-recall curves, reliability, and probabilities before calibration."""

from dataclasses import replace

import numpy as np
import pytest
from label_sets import make_sets, small_model

from nlptx.classifier.model import Model
from nlptx.evaluation.curves import MAX_POINTS, ranking_curves, reliability, without_temperature
from nlptx.metrics import roc_auc


def area(points):
    x, y = np.array(points).T
    return (np.diff(x) * (y[1:] + y[:-1]) / 2).sum()


def test_the_area_under_the_curve_is_the_auc_with_ties():
    rng = np.random.default_rng(1)
    scores, positive = rng.integers(0, 20, 100) / 20, rng.random(100) < 0.4
    curves = ranking_curves(scores, positive)
    assert area(curves.roc) == pytest.approx(roc_auc(scores, positive))
    assert curves.roc[0] == (0, 0)
    assert curves.roc[-1] == (1, 1)
    assert curves.precision_recall[-1] == (1, pytest.approx(positive.mean()))
    assert curves.prevalence == positive.mean()


def test_average_precision_equals_that_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    scores, positive = rng.integers(0, 30, 200) / 30, rng.random(200) < 0.3
    assert ranking_curves(scores, positive).average_precision == pytest.approx(
        metrics.average_precision_score(positive, scores)
    )


def test_long_curves_are_thinned_without_changing_their_area():
    rng = np.random.default_rng(3)
    positive = rng.random(20_000) < 0.5
    scores = rng.random(20_000) + positive
    curves = ranking_curves(scores, positive)
    assert len(curves.roc) <= MAX_POINTS + 2
    assert area(curves.roc) == pytest.approx(roc_auc(scores, positive), abs=1e-3)
    assert curves.area == pytest.approx(roc_auc(scores, positive), abs=1e-12)


@pytest.mark.parametrize("positive", [[True, True], [False, False]])
def test_curves_need_both_kinds_of_texts(positive):
    assert ranking_curves(np.array([0.1, 0.2]), np.array(positive)) is None


def test_reliability_counts_each_text_once():
    confidence, correct = np.array([0.05, 0.5, 0.52, 1.0]), np.array([False, True, False, True])
    found = reliability(confidence, correct, bins=10)
    assert [(part.low, part.texts, part.accuracy) for part in found] == [(0, 1, 0), (0.5, 2, 0.5), (0.9, 1, 1)]
    assert found[1].confidence == pytest.approx(0.51)


def models(work):
    yield Model.load(work / "kinds.npz")
    yield small_model()
    balanced = Model.load(work / "kinds.npz")
    settings = replace(balanced.settings, class_weight="balanced")
    yield replace(balanced, settings=settings, priors=np.array([0.5, 0.3, 0.2]))


def test_the_temperature_can_be_undone(work):
    texts = ["joke laugh horse", "gun the film", *make_sets(20)[0], "zzz"]
    for model in models(work):
        calibrated = replace(model, temperature=1.7)
        known = np.array([len(calibrated.encode(text)) > 0 for text in texts])
        raw = without_temperature(calibrated, calibrated.predict_proba(texts, 1), known)
        assert raw == pytest.approx(replace(model, temperature=1.0).predict_proba(texts, 1), abs=1e-6)
