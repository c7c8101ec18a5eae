"""The result of counting, and its conversion to an artifact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.stored_array import StoredArray
from nlptx.cooccurrence.spilled_matrix import SpilledMatrix
from nlptx.io.memory_budget import GrowingArray
from nlptx.settings import CountSettings
from nlptx.text.vocabulary import Vocabulary

KIND = "cooccurrence"


@dataclass(frozen=True)
class Counts:
    """The counts of a corpus. The matrix is in memory or in temporary files.

    Args:
        matrix: the symmetric (V, V) matrix of counts.
        vocabulary: the V words, one per row and column.
        settings: settings with which the corpus was counted.
        details: the number of tokens, of tokens whose word is in the vocabulary, and of distinct words; and other
            information, such as the digest of the corpus.
    """

    matrix: SpilledMatrix
    vocabulary: Vocabulary
    settings: CountSettings
    details: dict[str, Any]

    def to_artifact(self, kind: str = KIND) -> Artifact:
        """Return the counts as an artifact. A matrix on disk is read in small parts when the artifact is written."""
        matrix = self.matrix
        return matrix_artifact(
            matrix.indptr(), matrix.columns, matrix.values, self.vocabulary, self.settings, self.details, kind
        )


def matrix_artifact(
    indptr: NDArray,
    indices: NDArray | GrowingArray | StoredArray,
    data: NDArray | GrowingArray | StoredArray,
    vocabulary: Vocabulary,
    settings: CountSettings,
    details: dict[str, Any],
    kind: str = KIND,
) -> Artifact:
    """Return a CSR matrix of counts as an artifact, in a form that ``scipy.sparse.load_npz`` can also read."""
    size = len(vocabulary)
    arrays = {
        "format": np.array(b"csr"),
        "shape": np.array((size, size), np.int64),
        "indptr": indptr.astype(index_type(len(data)), copy=False),
        "indices": indices,
        "data": data,
        **vocabulary.to_arrays(),
    }
    return Artifact(kind, settings.to_dict(), arrays, None, details)


def index_type(entries: int) -> type[np.signedinteger]:
    """Return the dtype that ``indptr`` has in a CSR matrix with this many entries."""
    return np.int32 if entries < 1 << 31 else np.int64
