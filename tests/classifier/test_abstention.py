"""Tests of confidence thresholds for a maximum error, and of accuracy against coverage."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from reviews import make_reviews, small_embeddings, small_fit

import nlptx
from nlptx.classifier.abstention import (
    GRID,
    MIN_COVERAGE,
    ErrorCurve,
    Threshold,
    find_threshold,
)
from nlptx.classifier.model import Model
from nlptx.errors import ArtifactError, CorruptError, QualityGateError, SettingsError
from nlptx.evaluation.coverage import CoverageCurve
from nlptx.settings import TrainSettings


def draw(rng, texts, spread=2.4):
    """Return the confidences of a calibrated classifier with two classes, and which of its answers are correct."""
    confidence = 1 / (1 + np.exp(-np.abs(rng.normal(0, spread, texts))))
    return confidence, rng.random(texts) < confidence


@pytest.fixture(scope="module")
def curve():
    return ErrorCurve.of(*draw(np.random.default_rng(1), 1000), 1010)


# ---------------------------------------------------------------- the stored counts


def test_the_curve_counts_answers_and_errors_for_each_threshold(curve):
    confidence, correct = draw(np.random.default_rng(1), 1000)
    for threshold, answered, wrong in zip(curve.thresholds, curve.answered, curve.wrong, strict=True):
        assert answered == (confidence >= threshold).sum()
        assert wrong == ((confidence >= threshold) & ~correct).sum()
    assert curve.answered[0] == 1000 > curve.answered[1]
    assert curve.answered[-1] > 0
    assert set(curve.thresholds) <= set(GRID)


def test_low_confidences_with_many_labels_have_thresholds():
    curve = ErrorCurve.of(np.array([0.003, 0.2]), np.array([True, True]), 2)
    assert (curve.thresholds[0], curve.thresholds[-1]) == (0.0, 0.2)
    assert (curve.answered[0], curve.answered[-1]) == (2, 1)


def test_a_curve_can_be_stored_and_restored(curve):
    assert ErrorCurve.from_dict(curve.to_dict()) == curve


@pytest.mark.parametrize(
    "change",
    [
        {"texts": 2},
        {"texts": 10.0},
        {"thresholds": [0.6, 0.5]},
        {"thresholds": [0.5, 2.0]},
        {"thresholds": [0.5, float("nan")]},
        {"thresholds": [0.5]},
        {"answered": [3, 8]},
        {"answered": [8, -1]},
        {"answered": "83"},
        {"wrong": [1, 2]},
        {"wrong": [9, 0]},
        {"wrong": [True, 0]},
        {"more": 1},
    ],
    ids=str,
)
def test_a_damaged_curve_is_rejected(change):
    intact = {"texts": 10, "thresholds": [0.5, 0.6], "answered": [8, 3], "wrong": [1, 0]}
    ErrorCurve.from_dict(intact)
    with pytest.raises(CorruptError, match="held-out"):
        ErrorCurve.from_dict(intact | change)


# ---------------------------------------------------------------- the choice of a threshold


@pytest.mark.parametrize("max_error", [0.05, 0.1, 0.15])
def test_no_threshold_down_to_the_chosen_one_exceeds_the_maximum_error(curve, max_error):
    from scipy.stats import binomtest  # scipy.stats takes a long time to import

    bounds = [
        binomtest(wrong, answered, alternative="less").proportion_ci(0.95).high
        for answered, wrong in zip(curve.answered, curve.wrong, strict=True)
    ]
    chosen = curve.choose(max_error)
    position = curve.thresholds.index(chosen.confidence)
    tested = [i for i, answered in enumerate(curve.answered) if answered >= max(MIN_COVERAGE * curve.texts, 93)]
    assert all(bounds[i] <= max_error for i in tested if i >= position)
    assert bounds[position - 1] > max_error
    assert chosen.coverage == curve.answered[position] / 1010


def test_at_most_one_choice_in_twenty_exceeds_the_maximum_error_on_new_texts():
    """The true error of a calibrated classifier is known: the mean of 1 - confidence over its answers."""
    rng = np.random.default_rng(4)
    new_confidence, _ = draw(rng, 200_000)
    chosen = [ErrorCurve.of(*draw(rng, 500), 500).choose(0.1) for _ in range(300)]
    thresholds = [choice.confidence for choice in chosen if choice is not None]
    errors = np.array([1 - new_confidence[new_confidence >= threshold].mean() for threshold in thresholds])
    assert len(errors) > 200
    assert (errors > 0.1).sum() <= 0.05 * 300
    assert errors.mean() > 0.05, "the choice wastes too much coverage"


def test_a_larger_maximum_error_never_answers_fewer_texts(curve):
    coverages = [choice.coverage for error in (0.05, 0.1, 0.15, 0.2, 0.3) if (choice := curve.choose(error))]
    assert coverages == sorted(coverages)
    assert curve.choose(0.3) == Threshold(curve.thresholds[0], 1000 / 1010)


@pytest.mark.parametrize(("max_error", "errors"), [(0.05, [0]), (0.1, [0, 1, 2, 3])])
def test_errors_on_the_most_confident_texts_do_not_end_the_search(max_error, errors):
    confidence, correct = np.linspace(0.999, 0.5, 1000), np.ones(1000, bool)
    correct[errors] = False
    assert ErrorCurve.of(confidence, correct, 1000).choose(max_error).coverage == 1


def test_no_threshold_with_few_texts():
    few = ErrorCurve.of(np.full(20, 0.9), np.ones(20, bool), 20)
    assert few.choose(0.05) is None
    assert few.smallest_error() == pytest.approx(0.22, abs=0.01)  # one error in 20 answers
    assert ErrorCurve.of(np.full(20, 0.9), np.zeros(20, bool), 20).smallest_error() is None


def test_the_smallest_error_is_the_first_that_has_a_threshold(curve):
    smallest = curve.smallest_error()
    assert curve.choose(smallest) is not None
    assert curve.choose(smallest - 0.005) is None


def test_an_unattainable_maximum_error_is_reported_with_advice(curve):
    with pytest.raises(ArtifactError, match=r"no record of its errors.*\n.*Train it again with texts held out"):
        find_threshold(None, 0.1)
    with pytest.raises(QualityGateError, match=r"1,010 texts.*error rate to 0.001\n.*Allow at least 0\.0"):
        find_threshold(curve, 0.001)
    for error in (0, 1, -1, float("nan")):
        with pytest.raises(SettingsError, match="max_error"):
            find_threshold(curve, error)


# ---------------------------------------------------------------- models


@pytest.fixture(scope="module")
def model():
    texts, labels = make_reviews(900)
    valid = ([*texts[500:], "???"], [*labels[500:], "neg"])
    settings = TrainSettings(epochs=3, lr=0.01, warmup=0, ngrams=0, width=0)
    return nlptx.fit(texts[:500], labels[:500], small_embeddings(), settings, valid=valid, jobs=1)


def test_training_stores_the_errors_on_the_held_out_texts(model):
    texts, labels = (part[500:] for part in make_reviews(900))
    probabilities = model.predict_proba(texts, 1)
    correct = np.array(model.labels)[probabilities.argmax(axis=1)] == labels
    assert model.error_curve.texts == 401  # one of these texts has no known word
    expected = ErrorCurve.of(probabilities.max(axis=1), correct, 401)
    assert model.error_curve.thresholds == expected.thresholds
    # A confidence near a threshold may be rounded.
    assert_allclose(model.error_curve.answered, expected.answered, atol=1)
    assert_allclose(model.error_curve.wrong, expected.wrong, atol=1)


def test_the_error_curve_is_saved_with_the_model(model, tmp_path):
    model.save(tmp_path / "m.npz")
    loaded = Model.load(tmp_path / "m.npz")
    assert loaded.error_curve == model.error_curve
    assert loaded.threshold(0.3) == model.threshold(0.3)


def test_without_held_out_texts_nothing_is_stored(tmp_path):
    model = small_fit(valid_share=0.0)
    assert model.error_curve is None
    assert "held_out" not in model.to_artifact().details
    model.save(tmp_path / "m.npz")
    with pytest.raises(ArtifactError):
        Model.load(tmp_path / "m.npz").threshold(0.1)


def test_texts_below_the_threshold_get_no_label(model):
    texts = [*make_reviews(30, seed=5)[0], "???"]
    confidence = model.predict_proba(texts, 1).max(axis=1)
    threshold = float(np.sort(confidence)[15])
    labels = model.predict(texts, 1)
    expected = [label if value >= threshold else None for label, value in zip(labels, confidence, strict=True)]
    assert None not in labels
    assert model.predict(texts, 1, abstain=threshold) == expected
    assert model.predict(texts, 1, abstain=0) == [*labels[:-1], None]
    with pytest.raises(SettingsError, match="abstain"):
        model.predict(texts, 1, abstain=1.5)


# ---------------------------------------------------------------- accuracy against coverage


def test_accuracy_against_coverage_answers_the_most_confident_texts_first():
    confidence = np.array([0.6, 0.9, 0.7, 0.8, 0.5])
    curve = CoverageCurve.of(confidence, np.array([True, True, False, True, False]))
    assert_allclose(curve.accuracy, [1, 1, 2 / 3, 3 / 4, 3 / 5])
    assert curve.aurc == pytest.approx(np.mean([0, 0, 1 / 3, 1 / 4, 2 / 5]))
    assert curve.at(0.6) == (0.6, 0.7, pytest.approx(2 / 3), 3)
    assert curve.at(0.5) == curve.at(0.6)
    assert [point.texts for point in curve.table()] == [5, 4, 3, 2, 1]


def test_texts_of_equal_confidence_are_answered_together_in_any_order():
    confidence, correct = np.array([0.9, 0.8, 0.8, 0.8, 0.6]), np.array([True, False, True, True, False])
    curves = [CoverageCurve.of(confidence[order], correct[order]) for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0])]
    assert curves[0].aurc == pytest.approx(curves[1].aurc)
    assert curves[0].at(0.3) == (0.8, 0.8, pytest.approx(3 / 4), 4)


@pytest.mark.parametrize("low", [0.5, 1 - 1e-6, 1 - 1e-15, 1e-18])
def test_exactly_the_texts_of_a_point_reach_its_threshold(low):
    confidence = np.minimum(low * (1 + np.random.default_rng(1).random(300)), 1)
    confidence[:2] = 0, np.nextafter(1, 0)
    curve = CoverageCurve.of(confidence, confidence > 0)
    for point in (curve.at(percent / 100) for percent in range(1, 101)):
        assert (confidence >= float(curve.threshold(point))).sum() == point.texts


def test_thresholds_have_as_few_digits_as_possible():
    curve = CoverageCurve.of(np.array([0.99999, 0.99991, 0.979, 0.56789]), np.array([True] * 4))
    assert [curve.threshold(curve.at(share)) for share in (0.25, 0.5, 0.75, 1)] == [
        *("0.99999", "0.9999", "0.9790", "0.5678")
    ]


def test_no_part_of_scipy_is_imported_to_choose_a_threshold():
    program = "import sys; from nlptx import Model; Model.load().threshold(0.05); print('scipy.special' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
