"""Checks the co-occurrence counts in an artifact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.validation import read_vocabulary, require_array
from nlptx.cooccurrence.counts_artifact import index_type
from nlptx.errors import CorruptError, DataError
from nlptx.settings import CountSettings
from nlptx.text.tokenizer import Tokenizer
from nlptx.text.vocabulary import Vocabulary

# Maximum count in a valid artifact. Counts come from sums of integers, which float64 represents exactly up to 2^53.
_MAX_COUNT = 2.0**53
NOT_SYMMETRIC = "the matrix of counts is not symmetric"


def read_settings(artifact: Artifact) -> tuple[CountSettings, Vocabulary]:
    """Read the counting settings and the vocabulary of an artifact. Raises CorruptError if they are invalid."""
    settings = CountSettings.from_dict(artifact.settings)
    return settings, read_vocabulary(artifact, Tokenizer(settings.tokenizer, settings.lowercase))


def matrix_arrays(artifact: Artifact, words: int) -> tuple[NDArray, Any, Any]:
    """Return the arrays of the matrix: indptr, (V + 1,); indices, (entries,) int32; and data, (entries,) float64.

    The values in the arrays of indices and data are not checked here, because they may not have been read from the file
    yet; :func:`check_entries` checks them.

    Raises:
        CorruptError: an array is missing or has an unexpected dtype or shape, or the values of indptr are invalid.
    """
    data = require_array(artifact, "data", "float64", (None,))
    indices = require_array(artifact, "indices", "int32", (len(data),))
    indptr = require_array(artifact, "indptr", index_type(len(data)).__name__, (words + 1,))
    if (require_array(artifact, "shape", "int64", (2,)) != words).any():
        raise CorruptError(f"the matrix does not have {words} rows and columns, one per word")
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise CorruptError("the row pointers of the matrix are invalid")
    return indptr, indices, data


def check_symmetric(matrix: sp.csr_matrix) -> None:
    """Raise DataError if a (V, V) matrix of counts is not symmetric."""
    if not have_symmetric_counts([matrix]):
        raise DataError(NOT_SYMMETRIC, hint="Count all pairs of words in both orders.")


def have_symmetric_counts(slices: Iterable[sp.csr_matrix]) -> bool:
    """Return whether a (V, V) matrix of counts, given as consecutive slices of its rows, is symmetric.

    A random vector is multiplied by the matrix and by its transpose. The matrix is considered symmetric if the two
    products are equal up to rounding errors. Comparing all entries would take much more time and memory.
    """
    products: list[NDArray] = []
    first, vector, transposed = 0, np.zeros(0), np.zeros(0)
    for rows in slices:
        if not products:
            vector, transposed = np.random.default_rng(0).uniform(1, 2, rows.shape[1]), np.zeros(rows.shape[1])
        products.append(rows @ vector)
        transposed += rows.T @ vector[first : first + rows.shape[0]]
        first += rows.shape[0]
    return np.allclose(np.concatenate(products), transposed, rtol=1e-9, atol=0)


def check_entries(rows: sp.csr_matrix) -> None:
    """Raise CorruptError if the given rows cannot belong to a matrix of counts."""
    if len(rows.indices) and (rows.indices.min() < 0 or rows.indices.max() >= rows.shape[1]):
        raise CorruptError("the matrix contains an index of a word that does not exist")
    if not ((rows.data > 0) & (rows.data <= _MAX_COUNT)).all():  # a NaN fails these comparisons too
        raise CorruptError("the matrix contains a count that is zero, negative, beyond 2^53, or not a number")
    if not rows.has_canonical_format:
        raise CorruptError("the entries of the matrix are unsorted or repeated")
