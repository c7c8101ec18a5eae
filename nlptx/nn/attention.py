"""Self-attention: first in its textbook form, then as layers that use a faster kernel.

The two functions at the top compute attention and its gradient by the textbook formulas. The layers below compute the
same results with the faster functions of :mod:`nlptx.nn.attention_kernel`; a test checks that the results agree.

Source: "Attention is all you need" (Vaswani et al. 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.nn.attention_kernel import attend, attend_backward, attend_only
from nlptx.nn.layer import Gradients, Layer
from nlptx.nn.layout import Layout
from nlptx.nn.linear import Linear


def attention(q: NDArray, k: NDArray, v: NDArray, causal: bool = False) -> tuple[NDArray, NDArray]:
    """Return, for each query, a mean of the values, weighted by how well their keys match the query.

        O = P V    with    P = softmax(Q K^T), taken over the keys

    Args:
        q: (..., T, K) queries, already multiplied by 1 / sqrt(K) if attention is scaled.
        k: (..., T, K) keys.
        v: (..., T, K) values.
        causal: whether a token attends only to itself and to the tokens before it.

    Returns:
        O (..., T, K) and the attention weights P (..., T, T), in the dtype of the arguments.
    """
    s = q @ k.swapaxes(-1, -2)  # (..., T, T)
    if causal:
        s[..., ~np.tri(s.shape[-1], dtype=bool)] = -np.inf
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    p /= p.sum(axis=-1, keepdims=True)
    return p @ v, p  # (..., T, K)


# O = P V gives dV = P^T dO and dP = dO V^T.
# One row p = softmax(s) of P has the Jacobian ∂p_i/∂s_j = p_i (delta_ij - p_j), so
#   ds_j = sum_i dp_i p_i (delta_ij - p_j) = p_j (dp_j - sum_i p_i dp_i).
# S = Q K^T gives dQ = dS K and dK = dS^T Q. For a masked key, p is 0, and therefore ds is 0 too.
def attention_backward(do: NDArray, q: NDArray, k: NDArray, v: NDArray, p: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return dQ, dK and dV of :func:`attention`, each (..., T, K).

    Args:
        do: (..., T, K) the derivative of the loss with respect to O.
        q: (..., T, K) queries, as given to :func:`attention`.
        k: (..., T, K) keys.
        v: (..., T, K) values.
        p: (..., T, T) attention weights that :func:`attention` returned.
    """
    dv = p.swapaxes(-1, -2) @ do  # (..., T, K)
    dp = do @ v.swapaxes(-1, -2)  # (..., T, T)
    ds = p * (dp - (p * dp).sum(axis=-1, keepdims=True))
    return ds @ k, ds.swapaxes(-1, -2) @ q, dv  # (..., T, K)


class Attention(Layer):
    """Base class of attention layers. The third entry of the cache of ``forward`` holds E and z; see :func:`attend`."""

    @staticmethod
    def weights(cache: Any) -> list[NDArray]:
        """Return the attention weights computed by ``forward``: an array (n, H, T, T) for each stack of windows."""
        return [e / z[..., None] for e, z in cache[2]]


class PlainAttention(Attention):
    """Replace each vector by a mean of the vectors in its window, weighted by similarity: Y = softmax(X X^T) X.

    There are no parameters, no scaling and only one head. X is (N, D), Y is (N, D).

    Source: Bloem (2019), "Transformers from scratch", which begins with this layer.
    """

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        y, exponentials = np.empty_like(x), []
        for x_stack, y_stack in zip(self._stacks(x, layout), self._stacks(y, layout), strict=True):
            y_stack[...], e, z = attend(x_stack, x_stack, x_stack, layout.causal)
            exponentials.append((e, z))
        return y, (x, y, exponentials, layout)

    # X serves as queries, keys and values, so dX = dQ + dK + dV.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients | None = None) -> NDArray:
        x, y, exponentials, layout = cache
        dx = np.empty_like(x)
        stacks = zip(*(self._stacks(array, layout) for array in (dx, dy, y, x)), exponentials, strict=True)
        for dx_stack, do, o, v, (e, z) in stacks:
            dq, dk, dv = attend_backward(do, o, v, v, v, e, z)
            dx_stack[...] = dq + dk + dv
        return dx

    def _stacks(self, x: NDArray, layout: Layout) -> list[NDArray]:
        """Return x (N, D) as views, one for each stack of n windows with T tokens: (n, 1, T, D), with a single head."""
        return [stack[:, None] for stack in layout.stacks(x)]


class MultiHeadAttention(Attention):
    """Run H attention heads in parallel, each with separate projections, and combine their outputs linearly.

        Y = [O_1 ... O_H] W_O    with    O_h = softmax(scale Q_h K_h^T) V_h    and    [Q K V] = X W_QKV

    X is (N, D), W_QKV (D, 3 H K), W_O (H K, D), Y (N, D).

    Args:
        width: D, the width of the model.
        heads: H, the number of heads.
        head_width: K, the width of each head: D / H for narrow heads, D for wide heads.
        scaled: whether the scale is 1 / sqrt(K); otherwise it is 1.
        rng: random generator for the initial weights.
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

    def _split(self, qkv: NDArray, layout: Layout) -> list[NDArray]:
        """Return views of ``qkv`` (N, 3 H K): for each stack of n windows with T tokens, one view (3, n, H, T, K).

        Each view contains the Q, K and V of its windows.
        """
        shape = (3, self.heads, self.head_width)
        return [stack.reshape(*stack.shape[:2], *shape).transpose(2, 0, 3, 1, 4) for stack in layout.stacks(qkv)]

    def _split_heads(self, x: NDArray, layout: Layout) -> list[NDArray]:
        """Return views of ``x`` (N, H K): for each stack of n windows with T tokens, one view (n, H, T, K)."""
        shape = (self.heads, self.head_width)
        return [stack.reshape(*stack.shape[:2], *shape).swapaxes(1, 2) for stack in layout.stacks(x)]

    def _scale_queries(self, qkv: NDArray) -> None:
        """Multiply Q, or its gradient, by the scale. Scaling the larger array Q K^T would have the same effect."""
        queries = qkv[:, : self.heads * self.head_width]  # (N, H K)
        queries *= queries.dtype.type(self.scale)

    def forward(self, x: NDArray, layout: Layout, rng: Any = None) -> tuple[NDArray, Any]:
        qkv, qkv_cache = self.qkv.forward(x, layout)  # (N, 3 H K)
        self._scale_queries(qkv)
        o = np.empty((len(x), self.heads * self.head_width), x.dtype)  # (N, H K)
        exponentials = []
        for (q, k, v), o_stack in zip(self._split(qkv, layout), self._split_heads(o, layout), strict=True):
            o_stack[...], e, z = attend(q, k, v, layout.causal)  # (n, H, T, K), (n, H, T, T), (n, H, T)
            exponentials.append((e, z))
        y, out_cache = self.out.forward(o, layout)  # (N, D)
        return y, (qkv, o, exponentials, layout, qkv_cache, out_cache)

    def apply(self, x: NDArray, layout: Layout) -> NDArray:
        qkv = self.qkv.apply(x, layout)  # (N, 3 H K)
        self._scale_queries(qkv)
        o = np.empty((len(x), self.heads * self.head_width), x.dtype)  # (N, H K)
        for (q, k, v), o_stack in zip(self._split(qkv, layout), self._split_heads(o, layout), strict=True):
            o_stack[...] = attend_only(q, k, v, layout.causal)
        return self.out.apply(o, layout)  # (N, D)

    # Backward reverses the steps of forward. Forward scales Q after the product with W_QKV, so backward scales dQ
    # before the gradient passes through W_QKV.
    def backward(self, dy: NDArray, cache: Any, grads: Gradients) -> NDArray:
        qkv, o, exponentials, layout, qkv_cache, out_cache = cache
        do = self.out.backward(dy, out_cache, grads)  # (N, H K)
        dqkv = np.empty_like(qkv)  # (N, 3 H K)
        stacks = zip(
            self._split(dqkv, layout),
            self._split_heads(do, layout),
            self._split_heads(o, layout),
            self._split(qkv, layout),
            exponentials,
            strict=True,
        )
        for dqkv_stack, do_stack, o_stack, (q, k, v), (e, z) in stacks:
            dqkv_stack[...] = attend_backward(do_stack, o_stack, q, k, v, e, z)  # (3, n, H, T, K)
        self._scale_queries(dqkv)
        return self.qkv.backward(dqkv, qkv_cache, grads)  # (N, D)
