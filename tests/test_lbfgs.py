"""L-BFGS finds the minimum of convex functions, with and without lower limits."""

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.lbfgs import minimise, minimise_above, minimise_in_basis


def logistic(seed, texts=60, inputs=12):
    """Return the value and gradient of a logistic regression whose inputs have very different scales."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(texts, inputs)) * np.exp(rng.normal(size=inputs))
    signs = np.where(rng.random(texts) < 0.5, 1.0, -1.0)

    def value_and_gradient(weights):
        margins = signs * (x @ weights)
        gradient = -x.T @ (signs / (1 + np.exp(margins)))
        return np.logaddexp(0, -margins).sum() + weights @ weights / 2, gradient + weights

    return value_and_gradient, np.zeros(inputs)


@pytest.mark.parametrize("seed", range(5))
def test_the_minimum_is_that_of_scipy(seed):
    function, start = logistic(seed)
    expected = scipy.optimize.minimize(function, start, jac=True, method="L-BFGS-B", options={"ftol": 1e-12}).x
    assert_allclose(minimise(function, start, tolerance=1e-12), expected, atol=1e-4)


def test_about_as_many_evaluations_as_scipy_needs():
    counts = {"ours": 0, "theirs": 0}

    def counted(function, name):
        def call(weights):
            counts[name] += 1
            return function(weights)

        return call

    for seed in range(5):
        function, start = logistic(seed)
        minimise(counted(function, "ours"), start, tolerance=1e-7)
        options = {"ftol": 1e-7}
        scipy.optimize.minimize(counted(function, "theirs"), start, jac=True, method="L-BFGS-B", options=options)
    assert counts["ours"] <= 1.2 * counts["theirs"]


def test_the_search_ends_at_the_maximum_number_of_iterations():
    function, start = logistic(1)
    values = [function(minimise(function, start, max_iterations=number))[0] for number in range(4)]
    assert_array_equal(values, sorted(values, reverse=True))
    assert values[0] == function(start)[0]
    assert len(set(values)) == 4


def test_a_start_at_the_minimum_is_returned():
    assert_array_equal(minimise(lambda w: (float(w @ w), 2 * w), np.zeros(3)), np.zeros(3))


@pytest.mark.parametrize("curvature", [1e-9, 1e-3, 1e9])
def test_a_minimum_at_any_distance_is_found(curvature):
    goal = np.array([3.0, -4.0])
    found = minimise(
        lambda w: (curvature * float((w - goal) @ (w - goal)) / 2, curvature * (w - goal)), np.zeros(2), 0.0
    )
    assert_allclose(found, goal, rtol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_lower_limits(seed):
    function, start = logistic(seed)
    lower = np.where(np.arange(len(start)) % 3, -np.inf, 0.05)
    bounds = [(low, None) for low in lower]
    options = {"ftol": 1e-12}
    expected = scipy.optimize.minimize(
        function, start + 0.1, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    found = minimise_above(function, start + 0.1, lower)
    assert (found >= lower).all()
    assert (found == lower).any()
    assert function(found)[0] <= expected.fun * 1.01


def test_limits_that_do_not_matter_change_nothing():
    function, start = logistic(3)
    assert_array_equal(minimise_above(function, start, np.full(len(start), -100.0)), minimise(function, start))


def test_a_change_of_the_gradient_that_is_0_because_of_rounding_is_not_used():
    def gradient_at(point, _):
        return np.array([np.sign(point[0]), 4 * point[0]])  # the coordinates of the gradient are coarsely rounded

    start = np.full((2, 1), 0.15)
    point = minimise_in_basis(lambda x: (2 * x[0, 0] ** 2, None), gradient_at, start, 0, 50)
    assert abs(point[0, 0]) < start[0, 0]


@pytest.mark.parametrize("scale", [1e-6, 1e-7, 1e-9])
def test_the_first_step_may_be_far_too_short(scale):
    """Logistic regression on tiny inputs: the first step is only a tiny part of the way to the optimum."""
    x, y = np.array([1, 2, -1, -2, 0.5, -0.2]) * scale, np.array([1, 1, 0, 0, 0, 1])

    def value_and_gradient(w):
        p = 1 / (1 + np.exp(-x * w[0]))
        return float(-np.log(np.where(y, p, 1 - p)).sum()), np.array([(p - y) @ x])

    found = minimise(value_and_gradient, np.zeros(1), tolerance=1e-12)[0]
    assert found * scale == pytest.approx(1.65, abs=0.01)


def test_a_function_without_a_minimum_gives_a_finite_point():
    """All steps are accepted, because the function decreases for ever; the search must not jump too far."""
    found = minimise(lambda w: (float(np.exp(-w[0])), -np.exp(-w)), np.zeros(1), tolerance=1e-6)[0]
    assert 10 < found < 100
