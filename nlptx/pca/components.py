"""Chooses the components of the word vectors among the eigenpairs, and scales them.

V is the number of words, and R the number of components.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# One spare eigenpair is found for each so many components, to replace components with negative eigenvalues.
_COMPONENTS_PER_SPARE = 8


def pairs_to_find(words: int, components: int, signs: str) -> int:
    """Return the number of eigenpairs to find, at most ``words``: the components, and some spare ones.

    Args:
        words: V.
        components: R.
        signs: ``positive`` or ``both``; only ``positive`` needs spare eigenpairs.
    """
    return min(words, components + components // _COMPONENTS_PER_SPARE) if signs == "positive" else components


def chosen(directions: NDArray, images: NDArray, components: int) -> NDArray[np.intp]:
    """Return the columns of the eigenpairs to keep, in ascending order: the first R for which w^T X w >= 0.

    The PPMI matrix X is symmetric, so that X = sum of l w w^T over its eigenpairs (l, w), and C = X^T X / V has the
    same eigenvectors, with eigenvalues l^2 / V. If l is negative, words with similar entries in w occur near each other
    *less* often than X would have it without this component, and products of word vectors cannot approximate X. If too
    few eigenvalues are positive, the first of the others are kept too.

    Args:
        directions: (V, F) eigenvectors w, with the largest eigenvalues of C first.
        images: (V, F) X w.
        components: R, at most F.
    """
    negative = np.einsum("vf,vf->f", directions, images, dtype=np.float64) < 0
    return np.sort(np.argsort(negative, kind="stable")[:components])


def scales(values: NDArray, weight: float, equalize: float) -> NDArray:
    """Return the factors of the columns of X W, (R,).

        min(l_i, l_m)^(p/2) l_i^(-1/2)    with    m = 1 + floor(equalize R)

    The mean square of component i becomes l_i^p (p = 0: all the same, p = 1: plain PCA), but that of the first m
    components becomes the same, because these few would otherwise dominate the cosine. If an eigenvalue is only a
    rounding error, its factor is 0, because scaling it up would amplify noise.

    Args:
        values: (R,) eigenvalues l of C, largest first.
        weight: p.
        equalize: fraction of the components that get the same scale.
    """
    last = min(int(equalize * len(values)), len(values) - 1)
    nonzero = values > np.finfo(values.dtype).eps * values[0]
    safe = np.where(nonzero, values, 1)
    return np.where(nonzero, (np.minimum(safe, safe[last]) / safe) ** (weight / 2) * safe ** ((weight - 1) / 2), 0)
