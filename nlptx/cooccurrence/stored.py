"""What counting makes: a matrix, in memory or in temporary files, its vocabulary, and the artifact of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.container import Artifact
from nlptx.cooccurrence.spilled_matrix import SpilledMatrix
from nlptx.io.spill import SpilledArray
from nlptx.settings import CountSettings
from nlptx.text.vocabulary import Vocabulary

KIND = "cooccurrence"


@dataclass(frozen=True)
class Counts:
    """A corpus as it was counted, its matrix in memory or in temporary files.

    Args:
        run: the symmetric matrix.
        vocabulary: its V words.
        settings: how it was counted.
        details: tokens, those known, distinct words.
    """

    run: SpilledMatrix
    vocabulary: Vocabulary
    settings: CountSettings
    details: dict[str, Any]

    def to_artifact(self) -> Artifact:
        """Return the artifact; writing it brings the matrix to memory in small parts only."""
        run = self.run
        return matrix_artifact(run.indptr(), run.columns, run.values, self.vocabulary, self.settings, self.details)


def matrix_artifact(
    indptr: NDArray,
    indices: NDArray | SpilledArray,
    data: NDArray | SpilledArray,
    vocabulary: Vocabulary,
    settings: CountSettings,
    details: dict[str, Any],
) -> Artifact:
    """Return the artifact of a CSR matrix of counts; its file also opens with ``scipy.sparse.load_npz``."""
    size = len(vocabulary)
    arrays = {
        "format": np.array(b"csr"),
        "shape": np.array((size, size), np.int64),
        "indptr": indptr.astype(index_type(len(data)), copy=False),
        "indices": indices,
        "data": data,
        **vocabulary.to_arrays(),
    }
    return Artifact(KIND, settings.to_dict(), arrays, None, details)


def index_type(entries: int) -> type[np.signedinteger]:
    """Return the type of the row bounds of a matrix with so many entries."""
    return np.int32 if entries < 1 << 31 else np.int64
