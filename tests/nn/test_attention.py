"""Attention where scores are small, large, and beyond what an exponential can hold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.nn.attention import attend, attend_backward

SHAPE = (3, 2, 9, 4)  # windows, heads, tokens, width of a head


def textbook(q, k, v, do):
    """O, P, and the gradients dQ, dK, dV, in float64 and with the whole Jacobian of each row's softmax."""
    s = q @ k.swapaxes(-1, -2)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    dp = do @ v.swapaxes(-1, -2)
    jacobian = p[..., None] * np.eye(p.shape[-1]) - p[..., None] * p[..., None, :]
    ds = (jacobian @ dp[..., None])[..., 0]
    return p @ v, p, ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ do


def arrays(dtype, size=1.0, shift=0.0):
    """Q, K, V and dO; scores of about ``size`` squared, and ``shift`` more."""
    rng = np.random.default_rng(3)
    q, k, v, do = (rng.normal(size=SHAPE) for _ in range(4))
    q *= size
    k *= size
    q[..., 0], k[..., 0] = 1, shift
    return [x.astype(dtype) for x in (q, k, v, do)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-4)])
@pytest.mark.parametrize(
    ("size", "shift"), [(1, 0), (3, 0), (30, 0), (1, 60), (1, 200), (1, -60), (1, -200), (1, -2000)]
)
def test_scores_of_any_size_give_the_softmax_and_its_gradient(dtype, tolerance, size, shift):
    q, k, v, do = arrays(dtype, size, shift)
    o, e, z = attend(q, k, v, False)
    dq, dk, dv = attend_backward(do, o, q, k, v, e, z)
    wanted = textbook(*(x.astype(np.float64) for x in (q, k, v, do)))
    # A score is as exact as its own size allows.
    tolerance *= max(1, abs(shift) / 10, size**2 / 10)
    for found, right in zip((o, e / z[..., None], dq, dk, dv), wanted, strict=True):
        assert found.dtype == dtype
        assert_allclose(found, right, rtol=tolerance, atol=tolerance * np.abs(right).max())


@pytest.mark.parametrize("causal", [False, True])
def test_a_window_of_large_scores_changes_no_bit_of_another(causal):
    q, k, v, _ = arrays(np.float32)
    alone = attend(q, k, v, causal)
    q[1] *= 300
    together = attend(q, k, v, causal)
    for before, after in zip(alone, together, strict=True):
        assert_array_equal(after[[0, 2]], before[[0, 2]])
        assert np.isfinite(after).all()


def test_what_is_not_a_number_stays_so():
    q, k, v, _ = arrays(np.float32)
    q[0, 0, 4] = np.nan
    with np.errstate(invalid="ignore"):
        o, _, _ = attend(q, k, v, False)
    assert np.isnan(o[0, 0, 4]).all()
    assert np.isfinite(o[1:]).all()
