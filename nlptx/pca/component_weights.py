"""Computes the factors by which the components of the word vectors are scaled.

V is the number of words, and R the number of components. The matrices X, C and W are defined in
:func:`nlptx.pca.fit.fit_pca`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def eigenvalue_factors(values: NDArray, exponent: float) -> NDArray:
    """Return the factors by which to multiply the columns of X W, (R,): l_i^((p-1)/2).

    The mean square of component i becomes l_i^p. With p = 0, all mean squares are equal; p = 1 is plain PCA. If an
    eigenvalue is only a rounding error, its factor is 0, because scaling up its component would amplify noise.

    Args:
        values: (R,) eigenvalues l of C, largest first.
        exponent: the exponent p.
    """
    nonzero = _nonzero(values)
    return np.where(nonzero, np.where(nonzero, values, 1) ** ((exponent - 1) / 2), 0)


def cosine_weights(
    values: NDArray, directions: NDArray, images: NDArray, exponent: float, equalize: float, negative_weight: float
) -> NDArray:
    """Return a positive factor for each component, (R,), so that cosines of word vectors match word similarity better.

        c_i = min(1, l_m / l_i)^(p/2), times ``negative_weight`` if w_i^T X w_i < 0

    Here m = min(1 + floor(equalize * R), K), where K is the number of eigenvalues that are not 0. Apart from
    ``negative_weight``, the first m components get the same mean square, because they would otherwise dominate the
    cosine.

    X is symmetric unless PPMI is smoothed or X is standardised. A symmetric X is the sum of k w w^T over its eigenpairs
    k, w, and these w are also eigenvectors of C = X^T X / V, with eigenvalues k^2 / V. Consider two words whose entries
    in w have the same sign. If k is negative, the term k w w^T lowers the entry of X for these two words, but the
    component raises the dot product of their vectors. A component with negative k therefore gets less weight.

    Args:
        values: (R,) eigenvalues l of C, largest first.
        directions: (V, R) eigenvectors w.
        images: (V, R) X w.
        exponent: the exponent p of :func:`eigenvalue_factors`.
        equalize: fraction of the components, starting with the first, that get the same mean square.
        negative_weight: additional factor for components with w^T X w < 0.
    """
    nonzero = _nonzero(values)
    # Rounding first, because 0.29 * 100 is slightly less than 29.
    last = min(int(round(equalize * len(values), 9)), max(int(nonzero.sum()) - 1, 0))
    safe = np.where(nonzero, values, values[0])
    negative = np.einsum("vr,vr->r", directions, images, dtype=np.float64) < 0
    return np.minimum(1, safe[last] / safe) ** (exponent / 2) * np.where(negative, negative_weight, 1)


def _nonzero(values: NDArray) -> NDArray[np.bool_]:
    return values > np.finfo(values.dtype).eps * values[0]
