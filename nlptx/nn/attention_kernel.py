"""Fast softmax attention: computes the same as :mod:`nlptx.nn.attention`, with fewer passes over memory.

The weights P (T, T) are by far the largest array, so each pass over them is expensive. Four measures reduce the cost:

- P is never computed. Let E = exp(S), where S are the scores, and let z = E 1 be its row sums. Then P = E / z and
  O = (E V) / z, so only the smaller (T, K) array is divided.
- The largest score of each row is subtracted only in windows and heads in which a row sum of exp(S) is very large or
  very small.
- The scores of all queries for one key are contiguous in memory, so row maxima are computed with vector operations.
- Large weight arrays are computed in tiles. Each tile is small enough to stay in the cache of a core until it is
  finished.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

# Maximum number of attention weights in a tile. In float32, the weights of a tile occupy up to half a megabyte. A tile
# contains at least one head of one window, so the tiles of windows with more than 362 tokens are larger.
_TILE = 1 << 17
# Bounds for a sum of float32 exponentials. Between them, neither the sum nor its reciprocal overflows or underflows.
_MIN_SUM, _MAX_SUM = 1e-20, 1e20


def attend(q: NDArray, k: NDArray, v: NDArray, causal: bool) -> tuple[NDArray, NDArray, NDArray]:
    """Compute O = P V with P = softmax(Q K^T), taken over the keys. Return O, and arrays E and z such that P = E / z.

    Args:
        q: (n, H, T, K) queries.
        k: (n, H, T, K) keys.
        v: (n, H, T, K) values.
        causal: whether a token attends only to itself and to the tokens before it.

    Returns:
        O (n, H, T, K), E (n, H, T, T) and z (n, H, T), in the dtype of the arguments.
    """
    if _fits_a_tile(q):
        return _attend(q, k, v, causal)
    o, e, z = np.empty_like(v), _empty_weights(k), np.empty(q.shape[:-1], q.dtype)
    for tile in _tiles(*q.shape[:-1]):
        o[tile], e[tile], z[tile] = _attend(q[tile], k[tile], v[tile], causal)
    return o, e, z


def attend_only(q: NDArray, k: NDArray, v: NDArray, causal: bool) -> NDArray:
    """Return only the output O of :func:`attend`, (n, H, T, K), and discard the weights to save memory."""
    if _fits_a_tile(q):
        return _attend(q, k, v, causal)[0]
    o = np.empty_like(v)
    for tile in _tiles(*q.shape[:-1]):
        o[tile] = _attend(q[tile], k[tile], v[tile], causal)[0]
    return o


def attend_backward(
    do: NDArray, o: NDArray, q: NDArray, k: NDArray, v: NDArray, e: NDArray, z: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    """Return dQ, dK and dV of :func:`attend`, each (n, H, T, K).

    Args:
        do: (n, H, T, K) the derivative of the loss with respect to O.
        o: (n, H, T, K) O as :func:`attend` returned it.
        q: (n, H, T, K) queries, as given to :func:`attend`.
        k: (n, H, T, K) keys.
        v: (n, H, T, K) values.
        e: (n, H, T, T) E as :func:`attend` returned it.
        z: (n, H, T) z as :func:`attend` returned it.
    """
    arrays = (do, o, q, k, v, e, z)
    if _fits_a_tile(q):
        return _attend_backward(*arrays)
    dq, dk, dv = np.empty_like(q), np.empty_like(k), np.empty_like(v)
    for tile in _tiles(*q.shape[:-1]):
        dq[tile], dk[tile], dv[tile] = _attend_backward(*(array[tile] for array in arrays))
    return dq, dk, dv


def _fits_a_tile(q: NDArray) -> bool:
    windows, heads, tokens, _ = q.shape
    return windows * heads * tokens**2 <= _TILE


def _tiles(windows: int, heads: int, tokens: int) -> Iterator[tuple[slice, slice]]:
    """Cut scores (n, H, T, T) into tiles, each a slice of the windows and a slice of the heads."""
    tile_heads = min(heads, max(1, _TILE // tokens**2))
    tile_windows = max(1, _TILE // (tile_heads * tokens**2))
    for window in range(0, windows, tile_windows):
        for head in range(0, heads, tile_heads):
            yield slice(window, window + tile_windows), slice(head, head + tile_heads)


def _attend(q: NDArray, k: NDArray, v: NDArray, causal: bool) -> tuple[NDArray, NDArray, NDArray]:
    e, z = _exponentials(q, k, causal, None)
    if not (z.min() > _MIN_SUM and z.max() < _MAX_SUM):
        # The row maxima are subtracted only in windows and heads with sums z out of bounds, so that no result depends
        # on other texts in the batch.
        safe: NDArray[np.bool_] = np.all((z > _MIN_SUM) & (z < _MAX_SUM), axis=-1)  # (n, H)
        e, z = _exponentials(q, k, causal, ~safe)
    o = e @ v  # (n, H, T, K)
    o /= z[..., None]
    return o, e, z


def _exponentials(q: NDArray, k: NDArray, causal: bool, shifted: NDArray[np.bool_] | None) -> tuple[NDArray, NDArray]:
    """Return E = exp(S) and z = E 1 for S = Q K^T.

    ``shifted`` is a mask (n, H). In the windows and heads where it is True, the maximum of each row is first subtracted
    from S. None means that it is False everywhere.
    """
    e = np.matmul(q, k.swapaxes(-1, -2), out=_empty_weights(k))  # (n, H, T, T)
    tokens = e.shape[-1]
    if causal:
        e[..., ~np.tri(tokens, dtype=bool)] = -np.inf
    if shifted is not None:
        e -= np.where(shifted[..., None, None], e.max(axis=-1, keepdims=True), 0)
    with np.errstate(over="ignore"):  # the caller detects overflow by checking z
        np.exp(e, out=e)
        return e, e @ np.ones(tokens, e.dtype)  # (n, H, T); the product is faster than a sum over the last axis


def _empty_weights(k: NDArray) -> NDArray:
    """Return an uninitialised (n, H, T, T) array in which the weights of all queries for one key are contiguous."""
    return np.empty((*k.shape[:-1], k.shape[-2]), k.dtype).swapaxes(-1, -2)


# As derived in attention.py, dV = P^T dO and ds = p (dp - sum_i p_i dp_i) with dp = V do. Here
#   sum_i p_i dp_i = sum_i p_i (v_i . do) = o . do,
# and P = E / z. Dividing dO by z gives the same result as dividing E by z, and takes less time because dO is smaller:
#   dV = E^T (dO / z)    and    ds = e (V (do / z) - o . (do / z)).
def _attend_backward(
    do: NDArray, o: NDArray, q: NDArray, k: NDArray, v: NDArray, e: NDArray, z: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    do = do / z[..., None]
    dv = e.swapaxes(-1, -2) @ do  # (n, H, T, K)
    ds = np.matmul(do, v.swapaxes(-1, -2), out=_empty_weights(k))  # (n, H, T, T)
    ds -= np.einsum("...tk,...tk->...t", do, o)[..., None]  # (n, H, T, 1)
    ds *= e
    return ds @ k, ds.swapaxes(-1, -2) @ q, dv  # (n, H, T, K)
