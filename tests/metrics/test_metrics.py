"""Metrics are compared with formulas that were written independently."""

import math

import numpy as np
import pytest
from metric_definitions import auc_by_pairs, ece_by_bins

from nlptx.metrics import (
    calibration_error,
    calibration_noise_floor,
    compute_report,
    confusion_matrix,
    log_loss,
    roc_auc,
    wilson_interval,
)


def random_case(seed, classes=3, texts=40):
    """Return coarsely rounded probabilities, so that ties are common, and targets."""
    rng = np.random.default_rng(seed)
    probabilities = np.round(rng.dirichlet(np.ones(classes), texts), 1)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities, rng.integers(classes, size=texts)


@pytest.mark.parametrize("seed", range(5))
def test_auc_counts_pairs_and_ties(seed):
    probabilities, targets = random_case(seed)
    assert len(np.unique(probabilities[:, 0])) < len(targets), "the data should contain ties"
    expected = auc_by_pairs(probabilities[:, 0], targets == 0)
    assert roc_auc(probabilities[:, 0], targets == 0) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "positive", "auc"),
    [
        ([0.1, 0.9], [False, True], 1),
        ([0.9, 0.1], [False, True], 0),
        ([0.5, 0.5, 0.5], [False, True, True], 0.5),
        ([0.2, 0.5, 0.5, 0.8], [False, False, True, True], 0.875),
    ],
)
def test_auc_of_known_cases(scores, positive, auc):
    assert roc_auc(np.array(scores), np.array(positive)) == auc


@pytest.mark.parametrize("positive", [[True, True], [False, False]])
def test_auc_without_positives_or_negatives_is_nan(positive):
    assert math.isnan(roc_auc(np.array([0.1, 0.2]), np.array(positive)))


@pytest.mark.parametrize("bins", [1, 5, 15])
@pytest.mark.parametrize("seed", range(3))
def test_calibration_error_equals_its_definition(seed, bins):
    rng = np.random.default_rng(seed)
    confidence, hit = rng.random(50), rng.random(50) < 0.6
    assert calibration_error(confidence, hit, bins) == pytest.approx(ece_by_bins(confidence, hit, bins))


def test_full_confidence_falls_into_the_last_bin():
    assert calibration_error(np.array([1.0, 1.0]), np.array([True, False])) == pytest.approx(0.5)
    assert calibration_error(np.array([1.0, 1.0]), np.array([True, True])) == 0


@pytest.mark.parametrize("texts", [1, 20, 100, 1000])
def test_noise_floor_equals_the_simulated_error_of_a_perfectly_calibrated_predictor(texts):
    rng = np.random.default_rng(texts)
    confidence = 1 / (1 + np.exp(-np.abs(rng.normal(0, 2, texts))))
    errors = [calibration_error(confidence, rng.random(texts) < confidence) for _ in range(2000)]
    floor = calibration_noise_floor(confidence)
    tiny = calibration_noise_floor(confidence, weights=np.full(texts, 1e-300))
    assert (tiny.mean, tiny.percentile_95) == pytest.approx((floor.mean, floor.percentile_95))
    assert floor.mean == pytest.approx(np.mean(errors), rel=0.03)
    assert floor.percentile_95 == pytest.approx(np.quantile(errors, 0.95), rel=0.05)
    assert floor == calibration_noise_floor(confidence), "always the same samples"


def test_copies_of_the_predictions_do_not_lower_the_noise_floor():
    confidence = np.random.default_rng(1).uniform(0.5, 1, 200)
    floor = calibration_noise_floor(confidence)
    copies = calibration_noise_floor(np.tile(confidence, 3), repeats=3)
    assert (copies.mean, copies.percentile_95) == pytest.approx((floor.mean, floor.percentile_95))


def test_the_noise_floor_of_weighted_texts_is_that_of_a_simulation():
    rng = np.random.default_rng(1)
    confidence, weights = rng.uniform(0.5, 1, 1000), rng.lognormal(0, 1.2, 1000)
    errors = [calibration_error(confidence, rng.random(1000) < confidence, weights=weights) for _ in range(200)]
    assert calibration_noise_floor(confidence, weights=weights).mean == pytest.approx(np.mean(errors), rel=0.08)
    assert calibration_noise_floor(confidence).mean < 0.7 * np.mean(errors)


def test_full_confidence_has_no_noise_floor():
    floor = calibration_noise_floor(np.ones(50))
    assert (floor.mean, floor.percentile_95) == (0, 0)


def test_log_loss_is_the_mean_negative_log_probability():
    probabilities = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    expected = (math.log(2) + math.log(4 / 3) + 0) / 3
    assert log_loss(probabilities, np.array([0, 1, 0])) == pytest.approx(expected)


def test_log_loss_of_sets_of_labels_is_limited_by_the_precision_of_a_probability():
    """A probability that is rounded to 1 may be too high by 2^-53, so its log-loss is at least 53 log 2."""
    targets = np.array([[False, True], [True, False]])
    assert log_loss(np.array([[1.0, 1.0], [0.0, 0.0]]), targets) == pytest.approx(53 * np.log(2))
    assert log_loss(np.array([[0.5, 1.0], [0.5, 0.0]]), targets) == pytest.approx(np.log(2))


def test_log_loss_of_probability_0_is_large_but_finite():
    assert log_loss(np.array([[1.0, 0.0]]), np.array([1])) == pytest.approx(53 * np.log(2))


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (1, 1), (0, 20), (7, 10), (50, 100), (99, 100), (20, 20)])
def test_wilson_interval_ends_where_the_z_score_reaches_1_96(hits, count):
    """If the true proportion is an end of the interval, the observed one differs from it by 1.96 standard errors."""
    proportion = hits / count
    for end in wilson_interval(hits, count):
        assert -1e-12 <= end <= 1 + 1e-12
        assert abs(proportion - end) == pytest.approx(1.959964 * math.sqrt(max(end * (1 - end), 0) / count), abs=1e-6)


def test_confusion_counts_each_pair():
    targets, guesses = np.array([0, 0, 1, 2, 2, 2]), np.array([0, 1, 1, 0, 0, 2])
    assert confusion_matrix(targets, guesses, 4).tolist() == [[1, 1, 0, 0], [0, 1, 0, 0], [2, 0, 1, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("seed", range(3))
def test_the_report_equals_metrics_computed_by_hand(seed):
    probabilities, targets = random_case(seed)
    labels = ["a", "b", "c"]
    report = compute_report(probabilities, targets, labels, ordered=True)
    guesses = [max(range(3), key=lambda label: row[label]) for row in probabilities.tolist()]
    pairs = list(zip(targets.tolist(), guesses, strict=True))
    assert report.texts == 40
    assert report.accuracy == sum(true == guess for true, guess in pairs) / 40
    assert report.majority == max(targets.tolist().count(label) for label in range(3)) / 40
    assert report.mean_absolute_error == pytest.approx(sum(abs(true - guess) for true, guess in pairs) / 40)
    scores = []
    for label, row in enumerate(report.classes):
        right = pairs.count((label, label))
        predicted = guesses.count(label)
        actual = targets.tolist().count(label)
        assert (row.label, row.texts) == (labels[label], actual)
        assert row.precision == pytest.approx(right / predicted if predicted else 0)
        assert row.recall == pytest.approx(right / actual)
        assert row.auc == pytest.approx(auc_by_pairs(probabilities[:, label], targets == label))
        scores.append(2 * right / (predicted + actual))
        assert row.f1 == pytest.approx(scores[-1])
    assert report.macro_f1 == pytest.approx(sum(scores) / 3)
    assert report.auc == pytest.approx(np.mean([row.auc for row in report.classes]))


def test_predictions_need_not_be_the_most_probable_labels():
    """Calibration is computed from the probability of the predicted label."""
    probabilities, targets = random_case(1)
    predicted = np.random.default_rng(2).integers(3, size=40)
    report = compute_report(probabilities, targets, ["a", "b", "c"], ordered=True, predicted=predicted)
    assert report.accuracy == np.mean(predicted == targets)
    assert report.balanced_accuracy == pytest.approx(np.mean([np.mean(predicted[targets == c] == c) for c in range(3)]))
    assert report.mean_absolute_error == pytest.approx(np.abs(predicted - targets).mean())
    assert report.ece == pytest.approx(ece_by_bins(probabilities[range(40), predicted], predicted == targets, 15))
    assert report.log_loss == compute_report(probabilities, targets, ["a", "b", "c"], ordered=True).log_loss


def test_the_calibration_error_leaves_out_texts_without_a_predicted_label():
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8]])
    report = compute_report(probabilities, np.array([0, 1]), ["a", "b"], ordered=False, predicted=np.array([0, -1]))
    assert report.ece == pytest.approx(0.1)


def test_a_class_without_texts_is_excluded_from_the_means():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1]])
    report = compute_report(probabilities, np.array([0, 1, 1]), ["a", "b", "c"], ordered=False)
    absent = report.classes[2]
    assert (absent.texts, absent.precision, absent.recall, absent.f1) == (0, 0, 0, 0)
    assert math.isnan(absent.auc)
    assert report.macro_f1 == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert report.auc == pytest.approx(1.0)
    assert report.mean_absolute_error is None


def test_auc_is_nan_if_all_texts_have_the_same_class():
    report = compute_report(np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0, 0]), ["a", "b"], ordered=True)
    assert math.isnan(report.auc)
    assert (report.accuracy, report.majority) == (0.5, 1.0)
    assert report.macro_f1 == pytest.approx(2 / 3)
