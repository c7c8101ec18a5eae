"""Self-attention (Vaswani et al. 2017), from the parameter-free form to scaled multi-head attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.layer import Gradients, Layer
from nlptx.nn.layout import Layout
from nlptx.nn.linear import Linear

# Attention weights handled together, so that they stay in a core's cache from the first product to the last.
_TILE = 1 << 17
# Between these, a sum of exponentials of float32 lost nothing to overflow or underflow, nor will what is made of it.
_LEAST, _MOST = 1e-20, 1e20


def tiles(windows: int, heads: int, tokens: int) -> Iterator[tuple[slice, slice]]:
    """Cut scores (n, H, T, T) into pieces of some windows and some heads that stay in a core's cache."""
    some_heads = min(heads, max(1, _TILE // tokens**2))
    some_windows = max(1, _TILE // (some_heads * tokens**2))
    for window in range(0, windows, some_windows):
        for head in range(0, heads, some_heads):
            yield slice(window, window + some_windows), slice(head, head + some_heads)


def empty_weights(k: NDArray) -> NDArray:
    """Return room for P (..., T, T) that has the queries of a key side by side in memory.

    The softmax over keys then runs down columns, all queries at once, which NumPy does much faster than
    one row after the other.

    Args:
        k: (..., T, K) keys.
    """
    return np.empty((*k.shape[:-1], k.shape[-2]), k.dtype).swapaxes(-1, -2)


def attend(
    q: NDArray,
    k: NDArray,
    v: NDArray,
    causal: bool,
    out: tuple[NDArray | None, NDArray | None, NDArray | None] = (None, None, None),
) -> tuple[NDArray, NDArray, NDArray]:
    """Return O = P V, with P = softmax over keys of S = Q K' as E and z: P = E / z, E = exp(S), z = E 1.

    Where exp(S) is too large or too small to go on with, E is exp(S - max S), which leaves P as it is.

    Args:
        q: (..., T, K) queries.
        k: (..., T, K) keys.
        v: (..., T, K) values.
        causal: mask keys after the query.
        out: where O (..., T, K), E (..., T, T) and z (..., T) go, if given.
    """
    o, e, z = out
    e, z = _exponentials(q, k, causal, None, empty_weights(k) if e is None else e, z)
    if not (z.min() > _LEAST and z.max() < _MOST):
        # Only where needed, so that nothing depends on what else is in the batch.
        moderate: NDArray[np.bool_] = np.all((z > _LEAST) & (z < _MOST), axis=-1)
        e, z = _exponentials(q, k, causal, ~moderate, e, z)
    o = np.matmul(e, v, out=o)
    o /= z[..., None]
    return o, e, z


def _exponentials(
    q: NDArray, k: NDArray, causal: bool, shifted: NDArray[np.bool_] | None, e: NDArray, z: NDArray | None
) -> tuple[NDArray, NDArray]:
    """Return E = exp(S) and z = E 1 for S = Q K'; where ``shifted`` (...), exp(S - max S)."""
    np.matmul(q, k.swapaxes(-1, -2), out=e)
    tokens = e.shape[-1]
    if causal:
        e[..., ~np.tri(tokens, dtype=bool)] = -np.inf
    if shifted is not None:
        e -= np.where(shifted[..., None, None], e.max(axis=-1, keepdims=True), 0)
    with np.errstate(over="ignore"):  # the caller looks at z
        np.exp(e, out=e)
        return e, np.matmul(e, np.ones(tokens, e.dtype), out=z)  # faster than a sum over the last axis


# O = P V gives dV = P'dO and dP = dO V'. For one row, p = softmax(s) has dp_i/ds_j = p_i (delta_ij - p_j), so
#   ds = p (dp - sum_j p_j dp_j),   and   sum_j p_j dp_j = sum_j p_j (v_j . do) = o . do.
# With P = E / z it is dO that is divided, not the (T, T) weights: dV = E'(dO / z), ds = e ((do / z) V' - o . (do / z)).
# S = Q K' gives dQ = dS K and dK = dS'Q. Masked entries have e = 0, hence ds = 0.
def attend_backward(
    do: NDArray,
    o: NDArray,
    q: NDArray,
    k: NDArray,
    v: NDArray,
    e: NDArray,
    z: NDArray,
    out: tuple[NDArray | None, NDArray | None, NDArray | None] = (None, None, None),
) -> tuple[NDArray, NDArray, NDArray]:
    """Return dQ, dK and dV of :func:`attend`, each (..., T, K); in ``out``, if given."""
    dq, dk, dv = out
    do = do / z[..., None]
    dv = np.matmul(e.swapaxes(-1, -2), do, out=dv)
    ds = np.matmul(do, v.swapaxes(-1, -2), out=empty_weights(k))
    ds -= np.einsum("...tk,...tk->...t", do, o)[..., None]
    ds *= e
    dq = np.matmul(ds, k, out=dq)
    dk = np.matmul(ds.swapaxes(-1, -2), q, out=dk)
    return dq, dk, dv


class PlainAttention(Layer):
    """Y = softmax(X X') X within each window: no parameters, no scaling, one head."""

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        parts = [attend(part, part, part, layout.causal) for part in layout.views(x)]
        y = np.concatenate([o.reshape(-1, x.shape[1]) for o, _, _ in parts])
        return y, (x, y, [weights for _, *weights in parts], layout)

    # X stands in three places, as query, key and value; its gradient is the sum of the three.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        x, y, weights, layout = cache
        parts = zip(layout.views(dy), layout.views(y), layout.views(x), weights, strict=True)
        dx = np.empty_like(x)
        for dx_run, (do, o, v, (e, z)) in zip(layout.views(dx), parts, strict=True):
            dq, dk, dv = attend_backward(do, o, v, v, v, e, z)
            dx_run[...] = dq + dk + dv
        return dx

    @staticmethod
    def weights(cache: Any) -> list[NDArray]:
        """Return the attention weights (n, 1, T, T) of each run of a call."""
        return [(e / z[..., None])[:, None] for e, z in cache[2]]


class MultiHeadAttention(Layer):
    """Y = [O_1 ... O_H] W_O with O_h = softmax(Q_h K_h') V_h and [Q / scale, K, V] = X W_QKV.

    Args:
        width: D.
        heads: H.
        head_width: K; D / H for narrow heads, D for wide ones.
        scaled: whether scale is 1 / sqrt(K), or 1. It goes to Q, which is smaller than Q K'.
        rng: source of the initial weights.
    """

    def __init__(self, width: int, heads: int, head_width: int, scaled: bool, rng: np.random.Generator) -> None:
        self.heads = heads
        self.head_width = head_width
        self.scale = 1 / float(np.sqrt(head_width)) if scaled else 1.0
        inner = heads * head_width
        self.qkv = Linear(width, 3 * inner, rng, bias=False, fan_out=inner)
        self.out = Linear(inner, width, rng, bias=False)

    def sublayers(self) -> Sequence[tuple[str, Layer]]:
        return (("qkv", self.qkv), ("out", self.out))

    def _heads(self, qkv: NDArray, layout: Layout) -> list[NDArray]:
        """View (N, 3 H K) as Q, K and V of each run, (3, n, H, T, K) together. No copy."""
        shape = (3, self.heads, self.head_width)
        return [run.reshape(*run.shape[:2], *shape).transpose(2, 0, 3, 1, 4) for run in layout.views(qkv)]

    def _merged(self, x: NDArray, layout: Layout) -> list[NDArray]:
        """View (N, H K) as (n, H, T, K) of each run. No copy."""
        return [run.reshape(*run.shape[:2], self.heads, self.head_width).swapaxes(1, 2) for run in layout.views(x)]

    def _scale(self, qkv: NDArray) -> None:
        """Multiply Q, or its gradient, by the scale."""
        queries = qkv[:, : self.heads * self.head_width]
        queries *= queries.dtype.type(self.scale)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        qkv, qkv_cache = self.qkv.forward(x, layout)
        self._scale(qkv)
        o = np.empty((len(x), self.heads * self.head_width), x.dtype)
        weights = []
        for (q, k, v), o_run in zip(self._heads(qkv, layout), self._merged(o, layout), strict=True):
            e, z = empty_weights(k), np.empty(k.shape[:-1], k.dtype)
            for tile in tiles(*q.shape[:3]):
                attend(q[tile], k[tile], v[tile], layout.causal, (o_run[tile], e[tile], z[tile]))
            weights.append((e, z))
        y, out_cache = self.out.forward(o, layout)
        return y, (qkv, o, weights, layout, qkv_cache, out_cache)

    # As forward, but a tile's weights are not kept: the next tile finds their memory in the cache.
    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        qkv = self.qkv.apply(x, layout)
        self._scale(qkv)
        o = np.empty((len(x), self.heads * self.head_width), x.dtype)
        for (q, k, v), o_run in zip(self._heads(qkv, layout), self._merged(o, layout), strict=True):
            for tile in tiles(*q.shape[:3]):
                attend(q[tile], k[tile], v[tile], layout.causal, (o_run[tile], None, None))
        return self.out.apply(o, layout)

    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        qkv, o, weights, layout, qkv_cache, out_cache = cache
        do = self.out.backward(dy, out_cache, grads)
        dqkv = np.empty_like(qkv)
        runs = zip(
            self._heads(qkv, layout),
            self._heads(dqkv, layout),
            self._merged(o, layout),
            self._merged(do, layout),
            weights,
            strict=True,
        )
        for (q, k, v), (dq, dk, dv), o_run, do_run, (e, z) in runs:
            for tile in tiles(*q.shape[:3]):
                known = (do_run[tile], o_run[tile], q[tile], k[tile], v[tile], e[tile], z[tile])
                attend_backward(*known, out=(dq[tile], dk[tile], dv[tile]))
        self._scale(dqkv)
        return self.qkv.backward(dqkv, qkv_cache, grads)

    @staticmethod
    def weights(cache: Any) -> list[NDArray]:
        """Return the attention weights (n, H, T, T) of each run of a call."""
        return [e / z[..., None] for e, z in cache[2]]
