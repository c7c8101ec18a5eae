"""The gradient checker reports wrong gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from gradcheck import SMALL, GradientError, check_gradients, layer_gradients
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from test_layers import HEADS, WIDTH, Case, every_layer, ffn

from nlptx.nn import Gradients, Layer, LayerNorm, Linear, MultiHeadAttention, attention
from nlptx.nn.block import Residual


@every_layer
def test_the_checker_detects_a_relative_error_of_1e_4_in_any_array(case: Case) -> None:
    loss, arrays = layer_gradients(case.layer(), case.x(), case.layout(), case.generator)
    for name, (value, gradient) in arrays.items():
        with pytest.raises(GradientError, match=f"^{name} along random"):
            check_gradients(loss, {name: (value, gradient * 1.0001)})


@pytest.mark.parametrize("size", [SMALL, 10 * SMALL])
def test_the_checker_detects_a_single_wrong_entry(size: int) -> None:
    value = np.random.default_rng(1).normal(size=size)
    gradient = 2 * value
    gradient[size // 2] += 0.01
    with pytest.raises(GradientError, match=r"v .*: backward gives .*, differences give "):
        check_gradients(lambda: float(value @ value), {"v": (value, gradient)})


def test_the_checker_restores_what_it_changes_and_rejects_nan() -> None:
    value = np.random.default_rng(1).normal(size=4)
    before = value.copy()
    with pytest.raises(GradientError, match="backward gives nan"):
        check_gradients(lambda: float(value @ value), {"v": (value, value * np.nan)})
    assert_array_equal(value, before)


ATTEND_BACKWARD = attention.attend_backward  # the correct function, saved here because tests patch it


# Layers whose backward pass contains a common mistake.


class HeadsWithAnotherSoftmax(MultiHeadAttention):
    """Attention that calls ``wrong`` instead of ``attend_backward``."""

    wrong: Callable[..., tuple[NDArray, NDArray, NDArray]]

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        with mock.patch.object(attention, "attend_backward", type(self).wrong):
            return super().backward(dy, cache, grads)


class SumOverQueries(HeadsWithAnotherSoftmax):
    """The sum runs over queries instead of keys: ds_ij = p_ij (dp_ij - sum_l p_lj dp_lj)."""

    @staticmethod
    def wrong(
        do: NDArray, o: NDArray, q: NDArray, k: NDArray, v: NDArray, e: NDArray, z: NDArray
    ) -> tuple[NDArray, NDArray, NDArray]:
        p = e / z[..., None]
        dp = do @ v.swapaxes(-1, -2)
        ds = p * (dp - (p * dp).sum(axis=-2, keepdims=True))
        return ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ do


class NothingForQueriesAndKeys(HeadsWithAnotherSoftmax):
    """dQ and dK are 0, as if the gradient of the softmax were always 0."""

    @staticmethod
    def wrong(*args: Any) -> tuple[NDArray, NDArray, NDArray]:
        dq, dk, dv = ATTEND_BACKWARD(*args)
        return 0 * dq, 0 * dk, dv


class NormWithoutSigma(LayerNorm):
    """dx lacks the factor 1 / sigma."""

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        z, inverse = cache
        return super().backward(dy, (z, np.ones_like(inverse)), grads)


class LinearWithMinusBias(Linear):
    """db has the wrong sign."""

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        assert self.bias is not None
        grads.add(self.bias, -2 * dy.sum(axis=0))
        return super().backward(dy, cache, grads)


class ResidualWithoutShortcut(Residual):
    """dx lacks the gradient of the shortcut connection."""

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        return super().backward(dy, cache, grads) - dy


BROKEN: list[tuple[Callable[[np.random.Generator], Layer], set[str]]] = [
    (lambda rng: SumOverQueries(WIDTH, HEADS, 3, True, rng), {"x", "qkv.W"}),
    (lambda rng: NothingForQueriesAndKeys(WIDTH, HEADS, 3, True, rng), {"x", "qkv.W"}),
    (lambda rng: NormWithoutSigma(WIDTH), {"x"}),
    (lambda rng: LinearWithMinusBias(WIDTH, 3, rng), {"b"}),
    (lambda rng: ResidualWithoutShortcut(ffn(rng), WIDTH, "pre", True, 0.0), {"x"}),
]


@pytest.mark.parametrize(("make", "wrong"), BROKEN, ids=[type(m(np.random.default_rng(0))).__name__ for m, _ in BROKEN])
def test_the_checker_names_the_arrays_with_wrong_gradients(
    make: Callable[[np.random.Generator], Layer], wrong: set[str]
) -> None:
    case = Case("broken", make)
    with pytest.raises(GradientError) as caught:
        check_gradients(*layer_gradients(case.layer(), case.x(), case.layout()))
    assert {line.split()[0] for line in str(caught.value).splitlines()} == wrong
