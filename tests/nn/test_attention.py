"""The fast attention kernel equals the textbook form for scores of any magnitude."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nlptx.nn import attention_kernel
from nlptx.nn.attention import attention, attention_backward
from nlptx.nn.attention_kernel import attend, attend_backward, attend_only

SHAPE = (3, 2, 9, 4)  # numbers of windows, heads and tokens, and the width of a head


def arrays(dtype, size=1.0, shift=0.0):
    """Return random Q, K, V and dO. The scores are about as large as the square of ``size``, plus ``shift``."""
    rng = np.random.default_rng(3)
    q, k, v, do = (rng.normal(size=SHAPE) for _ in range(4))
    q *= size
    k *= size
    q[..., 0], k[..., 0] = 1, shift
    return [x.astype(dtype) for x in (q, k, v, do)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-4)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("size", "shift"), [(1, 0), (3, 0), (30, 0), (1, 60), (1, 200), (1, -60), (1, -200), (1, -2000)]
)
def test_the_kernel_equals_the_textbook_form(dtype, tolerance, causal, size, shift):
    q, k, v, do = arrays(dtype, size, shift)
    o, e, z = attend(q, k, v, causal)
    dq, dk, dv = attend_backward(do, o, q, k, v, e, z)
    q, k, v, do = (x.astype(np.float64) for x in (q, k, v, do))
    expected_o, p = attention(q, k, v, causal)
    expected = (expected_o, p, *attention_backward(do, q, k, v, p))
    # The rounding error of a score grows with its magnitude.
    tolerance *= max(1, abs(shift) / 10, size**2 / 10)
    for actual, reference in zip((o, e / z[..., None], dq, dk, dv), expected, strict=True):
        assert actual.dtype == dtype
        # If one key has all the weight, the gradients of the scores are 0 except for rounding errors.
        assert_allclose(actual, reference, rtol=tolerance, atol=tolerance * max(0.01, np.abs(reference).max()))


@pytest.mark.parametrize("causal", [False, True])
def test_the_textbook_form_equals_explicit_jacobians(causal):
    q, k, v, do = arrays(np.float64)
    o, p = attention(q, k, v, causal)
    dq, dk, dv = attention_backward(do, q, k, v, p)
    masked = ~np.tri(SHAPE[2], dtype=bool) & causal
    assert (p[..., masked] == 0).all()
    assert (p[..., ~masked] > 0).all()
    assert_allclose(p.sum(axis=-1), 1)
    assert_allclose(o, p @ v)
    jacobian = p[..., None] * np.eye(SHAPE[2]) - p[..., None] * p[..., None, :]
    ds = (jacobian @ (do @ v.swapaxes(-1, -2))[..., None])[..., 0]
    for actual, reference in ((dq, ds @ k), (dk, ds.swapaxes(-1, -2) @ q), (dv, p.swapaxes(-1, -2) @ do)):
        assert_allclose(actual, reference, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("causal", [False, True])
def test_large_scores_in_one_window_change_no_bit_of_other_windows(causal):
    q, k, v, _ = arrays(np.float32)
    alone = attend(q, k, v, causal)
    q[1] *= 300
    together = attend(q, k, v, causal)
    for before, after in zip(alone, together, strict=True):
        assert_array_equal(after[[0, 2]], before[[0, 2]])
        assert np.isfinite(after).all()


def test_nan_is_propagated():
    q, k, v, _ = arrays(np.float32)
    q[0, 0, 4] = np.nan
    with np.errstate(invalid="ignore"):
        o, _, _ = attend(q, k, v, False)
    assert np.isnan(o[0, 0, 4]).all()
    assert np.isfinite(o[1:]).all()


@pytest.mark.parametrize("size", [1, 100, 200, 1 << 17])
@pytest.mark.parametrize("causal", [False, True])
def test_the_tile_size_changes_no_bit(size, causal, monkeypatch):
    q, k, v, do = arrays(np.float32)
    o, e, z = attend(q, k, v, causal)
    expected = (o, e, z, *attend_backward(do, o, q, k, v, e, z))
    monkeypatch.setattr(attention_kernel, "_TILE", size)
    o, e, z = attend(q, k, v, causal)
    for actual, reference in zip((o, e, z, *attend_backward(do, o, q, k, v, e, z)), expected, strict=True):
        assert_array_equal(actual, reference)
    assert_array_equal(attend_only(q, k, v, causal), o)


@pytest.mark.parametrize("size", [1, 20, 100, 1 << 17])
def test_tiles_cover_each_score_exactly_once(size, monkeypatch):
    monkeypatch.setattr(attention_kernel, "_TILE", size)
    times = np.zeros((5, 3), int)
    for tile in attention_kernel._tiles(5, 3, 4):
        times[tile] += 1
        assert times[tile].size * 4**2 <= max(size, 4**2)
    assert (times == 1).all()
