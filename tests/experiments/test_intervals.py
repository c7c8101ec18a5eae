"""The 95% interval of cross-validation contains the true accuracy in about 95% of the cases."""

import numpy as np
import pytest

from nlptx.experiments.intervals import corrected_interval

FOLDS, TEXTS, WIDTH = 5, 100, 10


def sample(rng, count):
    """Return points (count, WIDTH) of two classes with different means, and the class of each point."""
    classes = np.arange(count) % 2
    return rng.normal(size=(count, WIDTH)) + 0.25 * (2 * classes - 1)[:, None], classes


def fit(points, classes):
    """Return the weights and the bias of a nearest-centroid classifier."""
    zero, one = (points[classes == label].mean(axis=0) for label in (0, 1))
    return one - zero, (zero @ zero - one @ one) / 2


def accuracy(model, points, classes):
    return float(((points @ model[0] + model[1] > 0) == classes).mean())


def fold_accuracies(rng):
    points, classes = sample(rng, TEXTS)
    fold = np.arange(TEXTS) // 2 % FOLDS
    return [
        accuracy(fit(points[fold != number], classes[fold != number]), points[fold == number], classes[fold == number])
        for number in range(FOLDS)
    ]


def test_coverage():
    rng = np.random.default_rng(1)
    test = sample(rng, 20_000)
    expected = np.mean([accuracy(fit(*sample(rng, TEXTS * (FOLDS - 1) // FOLDS)), *test) for _ in range(300)])
    covered, plain = [], []
    for _ in range(1000):
        values = fold_accuracies(rng)
        found = corrected_interval(values, FOLDS)
        covered.append(found.low <= expected <= found.high)
        half = (found.high - found.mean) * np.sqrt((1 / FOLDS) / (1 / FOLDS + 1 / (FOLDS - 1)))
        plain.append(abs(found.mean - expected) <= half)
    assert np.mean(covered) >= 0.95
    assert np.mean(plain) < 0.94  # an interval that treats the folds as independent is too narrow


def test_known_values():
    found = corrected_interval([0.8, 0.9, 0.85, 0.75], 4)
    assert found.mean == pytest.approx(0.825)
    assert found.std == pytest.approx(0.0645497)
    # 3.182446 is the 97.5% quantile of Student's t with 3 degrees of freedom.
    assert found.high - found.mean == pytest.approx(3.182446 * 0.0645497 * np.sqrt(1 / 4 + 1 / 3))


def test_the_interval_stays_in_the_range_of_the_measure():
    found = corrected_interval([0.0, 1.0], 2, 1.0)
    assert (found.low, found.high) == (0.0, 1.0)
