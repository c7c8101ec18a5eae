"""Checks that the matrix of counts in a file is symmetric, because PCA relies on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nlptx.cooccurrence.checks import NOT_SYMMETRIC, products_agree, random_vector
from nlptx.cooccurrence.stored_matrix import StoredMatrix
from nlptx.errors import CorruptError
from nlptx.pca.transform import even_slices
from nlptx.runtime.workers import SERIAL, Workers


def check_stored_symmetric(matrix: StoredMatrix, workers: Workers = SERIAL) -> None:
    """Raise CorruptError if a (V, V) matrix is not symmetric. Each row is read once.

    See :func:`nlptx.cooccurrence.checks.check_symmetric`, which checks a matrix in memory.

    Args:
        matrix: the matrix of counts.
        workers: thread pool that reads the rows.
    """
    vector = random_vector(matrix.shape[1])

    def multiply(rows: slice) -> tuple[NDArray, NDArray]:
        part = matrix[rows]
        return part @ vector, part.T @ vector[rows]

    products, transposed = [], np.zeros(len(vector))
    for product, summand in workers.map(multiply, even_slices(matrix)):
        products.append(product)
        transposed += summand
    if not products_agree(np.concatenate(products), transposed):
        raise CorruptError(NOT_SYMMETRIC, where=matrix.where, hint="Make the file again with `nlptx cooccur`.")
