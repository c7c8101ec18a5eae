"""Probabilities, losses and gradients are compared with their definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from gradcheck import check_gradients
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from nlptx.nn import LOSSES, BinaryCrossEntropy, CrossEntropy, Loss, SquaredError

CASES = [CrossEntropy(2), CrossEntropy(5), SquaredError(2), BinaryCrossEntropy(1), BinaryCrossEntropy(4)]
both_losses = pytest.mark.parametrize("loss", CASES, ids=lambda loss: f"{type(loss).__name__} of {loss.classes}")
both_dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def batch(loss: Loss, size: int = 10, spread: float = 2.0) -> tuple[NDArray, NDArray]:
    rng = np.random.default_rng(4)
    targets = np.arange(size) % loss.classes
    if loss.independent:
        targets = rng.integers(0, 2, (size, loss.classes)).astype(bool)
    return rng.normal(0, spread, (size, loss.outputs)), targets


def by_hand(loss: Loss, outputs: list[float], target: Any) -> tuple[list[float], float]:
    """Return the probabilities and the loss of one text, computed from the definitions."""
    if isinstance(loss, BinaryCrossEntropy):
        p = [1 / (1 + math.exp(-s)) for s in outputs]
        return p, -math.fsum(math.log(each if true else 1 - each) for each, true in zip(p, target, strict=True))
    if isinstance(loss, CrossEntropy):
        total = math.fsum(math.exp(s) for s in outputs)
        p = [math.exp(s) / total for s in outputs]
        return p, -math.log(p[target])
    one = 1 / (1 + math.exp(-outputs[0]))
    return [1 - one, one], (one - target) ** 2


def test_every_loss_is_tested() -> None:
    assert set(LOSSES.values()) == {type(loss) for loss in CASES}


@both_losses
def test_probabilities_and_losses_follow_the_definitions(loss: Loss) -> None:
    outputs, targets = batch(loss)
    expected = [by_hand(loss, row.tolist(), t) for row, t in zip(outputs, targets.tolist(), strict=True)]
    assert_allclose(loss.probabilities(outputs), [p for p, _ in expected], rtol=1e-12, atol=1e-14)
    assert_allclose(loss.value_and_gradient(outputs, targets)[0], [value for _, value in expected], rtol=1e-11)


@both_losses
def test_gradient_equals_central_differences(loss: Loss) -> None:
    outputs, targets = batch(loss)
    _, gradient = loss.value_and_gradient(outputs, targets)
    check_gradients(lambda: float(loss.value_and_gradient(outputs, targets)[0].sum()), {"outputs": (outputs, gradient)})


@both_losses
@both_dtypes
def test_probabilities_sum_to_one_and_dtypes_are_kept(loss: Loss, dtype: Any) -> None:
    outputs, targets = batch(loss, spread=30)
    outputs = outputs.astype(dtype)
    p = loss.probabilities(outputs)
    value, gradient = loss.value_and_gradient(outputs, targets)
    assert p.shape == (10, loss.classes)
    assert (value.shape, gradient.shape) == ((10,), outputs.shape)
    assert p.dtype == value.dtype == gradient.dtype == dtype
    assert p.min() >= 0
    if loss.independent:
        assert p.max() <= 1
    else:
        assert_allclose(p.sum(axis=1), 1, rtol=1e-6)


@both_losses
@both_dtypes
def test_extreme_outputs_stay_finite(loss: Loss, dtype: Any) -> None:
    signs = np.where(np.arange(4 * loss.outputs).reshape(4, loss.outputs) % 3, 1, -1)
    outputs = (signs * 1e4).astype(dtype)
    for target in range(loss.classes):
        targets = np.eye(loss.classes, dtype=bool)[np.full(4, target)] if loss.independent else np.full(4, target)
        value, gradient = loss.value_and_gradient(outputs, targets)
        for array in (value, gradient, loss.probabilities(outputs)):
            assert np.isfinite(array).all()


@both_dtypes
def test_a_confident_mistake_costs_the_margin_in_cross_entropy_and_1_in_squared_error(dtype: Any) -> None:
    value, gradient = CrossEntropy(2).value_and_gradient(np.array([[1e4, -1e4]], dtype), np.array([1]))
    assert value == 2e4
    assert gradient.tolist() == [[1, -1]]
    assert SquaredError(2).value_and_gradient(np.array([[1e4]], dtype), np.array([0]))[0] == 1


@both_losses
def test_outputs_and_targets_are_not_modified(loss: Loss) -> None:
    outputs, targets = batch(loss)
    loss.probabilities(outputs)
    loss.value_and_gradient(outputs, targets)
    for after, before in zip((outputs, targets), batch(loss), strict=True):
        assert_allclose(after, before, rtol=0)


def test_squared_error_requires_two_classes() -> None:
    with pytest.raises(ValueError, match="2 classes, got 3"):
        SquaredError(3)


@both_losses
def test_one_hot_soft_labels_equal_hard_labels(loss: Loss) -> None:
    outputs, targets = batch(loss)
    for soft, hard in zip(
        loss.value_and_gradient(outputs, targets * 1.0 if loss.independent else np.eye(loss.classes)[targets]),
        loss.value_and_gradient(outputs, targets),
        strict=True,
    ):
        assert_allclose(soft, hard, rtol=1e-12, atol=1e-14)


@both_losses
def test_gradient_of_soft_labels_equals_central_differences(loss: Loss) -> None:
    outputs, _ = batch(loss)
    soft = np.random.default_rng(5).dirichlet(np.ones(loss.classes), len(outputs))
    _, gradient = loss.value_and_gradient(outputs, soft)
    check_gradients(lambda: float(loss.value_and_gradient(outputs, soft)[0].sum()), {"outputs": (outputs, gradient)})


@both_losses
def test_the_loss_is_minimal_where_the_probabilities_equal_the_soft_labels(loss: Loss) -> None:
    outputs, _ = batch(loss)
    _, gradient = loss.value_and_gradient(outputs, loss.probabilities(outputs))
    assert_allclose(gradient, 0, atol=1e-14)


@both_losses
def test_outputs_for_probabilities_give_these_probabilities(loss: Loss) -> None:
    p = np.random.default_rng(6).dirichlet(np.ones(max(loss.classes, 2)))[: loss.classes]
    assert_allclose(loss.probabilities(loss.outputs_for(p)[None])[0], p, rtol=1e-9)


@both_losses
def test_a_prediction_is_correct_where_it_equals_the_target(loss: Loss) -> None:
    outputs, targets = batch(loss)
    p = loss.probabilities(outputs)
    expected = ((p > 0.5) == targets).all(axis=1) if loss.independent else p.argmax(axis=1) == targets
    assert loss.correct(outputs, targets).tolist() == expected.tolist()


def test_the_binary_losses_of_independent_classes_add_up() -> None:
    outputs, targets = batch(BinaryCrossEntropy(4))
    value, gradient = BinaryCrossEntropy(4).value_and_gradient(outputs, targets)
    parts = [BinaryCrossEntropy(1).value_and_gradient(outputs[:, [c]], targets[:, [c]]) for c in range(4)]
    assert_allclose(value, sum(part for part, _ in parts), rtol=1e-12)
    assert_allclose(gradient, np.hstack([part for _, part in parts]), rtol=1e-12)


def test_classes_that_every_text_has_or_none_have_finite_outputs() -> None:
    loss = BinaryCrossEntropy(2)
    assert_allclose(loss.probabilities(loss.outputs_for(np.array([0.0, 1.0]))[None])[0], [0, 1], atol=1e-5)
