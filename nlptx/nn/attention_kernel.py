"""Softmax attention, fast: the result of ``attention`` in :mod:`nlptx.nn.attention`, with fewer passes over memory.

The weights P are (T, T), by far the largest array, so every pass over them counts. Three things save passes:

- P is never formed. With E = exp(S) and z = E 1, the sum of each row, P = E / z; so O = (E V) / z, where the smaller
  (T, K) array is divided.
- The softmax subtracts the largest score of a row only where exp(S) would overflow or underflow without it.
- In memory the queries of one key lie side by side, so the largest scores are found for whole columns at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# A sum of float32 exponentials between these has lost nothing to overflow or underflow, nor will its reciprocal.
_MIN_SUM, _MAX_SUM = 1e-20, 1e20


def attend(q: NDArray, k: NDArray, v: NDArray, causal: bool) -> tuple[NDArray, NDArray, NDArray]:
    """Return O = P V, with P = softmax(Q K^T) over keys as the quotient E / z.

    Args:
        q: (..., T, K) queries.
        k: (..., T, K) keys.
        v: (..., T, K) values.
        causal: whether a token attends only to itself and to the tokens before it.

    Returns:
        O (..., T, K), E (..., T, T) and z (..., T), in the dtype of the arguments.
    """
    e, z = _exponentials(q, k, causal, None)
    if not (z.min() > _MIN_SUM and z.max() < _MAX_SUM):
        # Only in the windows and heads that need it, so that no result depends on the other texts in the batch.
        safe: NDArray[np.bool_] = np.all((z > _MIN_SUM) & (z < _MAX_SUM), axis=-1)  # (...)
        e, z = _exponentials(q, k, causal, ~safe)
    o = e @ v  # (..., T, K)
    o /= z[..., None]
    return o, e, z


def _exponentials(q: NDArray, k: NDArray, causal: bool, shifted: NDArray[np.bool_] | None) -> tuple[NDArray, NDArray]:
    """Return E = exp(S) and z = E 1 for S = Q K^T; where ``shifted`` (...) holds, E = exp(S - max S)."""
    e = np.matmul(q, k.swapaxes(-1, -2), out=_empty_weights(k))  # (..., T, T)
    tokens = e.shape[-1]
    if causal:
        e[..., ~np.tri(tokens, dtype=bool)] = -np.inf
    if shifted is not None:
        e -= np.where(shifted[..., None, None], e.max(axis=-1, keepdims=True), 0)
    with np.errstate(over="ignore"):  # the caller checks z
        np.exp(e, out=e)
        return e, e @ np.ones(tokens, e.dtype)  # (..., T); faster than a sum over the last axis


def _empty_weights(k: NDArray) -> NDArray:
    """Return an empty array for attention weights, (..., T, T), with the queries of a key side by side in memory."""
    return np.empty((*k.shape[:-1], k.shape[-2]), k.dtype).swapaxes(-1, -2)


# As derived in attention.py, dV = P^T dO and ds = p (dp - sum_i p_i dp_i) with dp = V do. Here
#   sum_i p_i dp_i = sum_i p_i (v_i . do) = o . do,
# and with P = E / z it is dO that is divided, not the weights:
#   dV = E^T (dO / z)    and    ds = e (V (do / z) - o . (do / z)).
def attend_backward(
    do: NDArray, o: NDArray, q: NDArray, k: NDArray, v: NDArray, e: NDArray, z: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    """Return dQ, dK and dV of :func:`attend`, each (..., T, K).

    Args:
        do: (..., T, K) the derivative of the loss with respect to O.
        o: (..., T, K) as :func:`attend` returned it.
        q: (..., T, K) queries, as given to :func:`attend`.
        k: (..., T, K) keys.
        v: (..., T, K) values.
        e: (..., T, T) as :func:`attend` returned it.
        z: (..., T) as :func:`attend` returned it.
    """
    do = do / z[..., None]
    dv = e.swapaxes(-1, -2) @ do  # (..., T, K)
    ds = np.matmul(do, v.swapaxes(-1, -2), out=_empty_weights(k))  # (..., T, T)
    ds -= np.einsum("...tk,...tk->...t", do, o)[..., None]
    ds *= e
    return ds @ k, ds.swapaxes(-1, -2) @ q, dv  # (..., T, K)
