"""Checks that the matrix of counts in a file is symmetric, because PCA relies on the symmetry."""

from __future__ import annotations

from nlptx.cooccurrence.checks import NOT_SYMMETRIC, have_symmetric_counts
from nlptx.cooccurrence.stored_matrix import StoredMatrix
from nlptx.errors import CorruptError
from nlptx.pca.transform import even_slices
from nlptx.runtime.workers import Workers


def check_stored_symmetric(matrix: StoredMatrix, workers: Workers) -> None:
    """Raise CorruptError if a (V, V) matrix of counts is not symmetric. Each row is read once.

    Args:
        matrix: the matrix of counts.
        workers: thread pool that reads the rows.
    """
    if not have_symmetric_counts(workers.map(matrix.__getitem__, even_slices(matrix))):
        raise CorruptError(NOT_SYMMETRIC, where=matrix.where, hint="Make the file again with `nlptx cooccur`.")
