"""Co-occurrence counts whose matrix stays in a file, because the matrix may be larger than memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import build, read
from nlptx.artifacts.stored_array import StoredArray
from nlptx.cooccurrence.checks import check_entries, matrix_arrays, read_settings
from nlptx.cooccurrence.counts_artifact import KIND, Counts, index_type, matrix_artifact
from nlptx.errors import CorruptError
from nlptx.io.memory_budget import GrowingArray, MemoryBudget
from nlptx.io.paths import FilePath, file_name
from nlptx.settings import CountSettings
from nlptx.text.vocabulary import Vocabulary


@dataclass(frozen=True)
class StoredMatrix:
    """A (V, V) sparse matrix in a file. The rows are checked whenever they are read from the file.

    Args:
        indptr: (V + 1,) row pointers, as in a ``csr_matrix``.
        columns: (entries,) int32 column indices.
        values: (entries,) float64 counts.
        where: name of the file, for error messages.
    """

    indptr: NDArray
    columns: StoredArray | GrowingArray
    values: StoredArray | GrowingArray
    where: str

    @property
    def shape(self) -> tuple[int, int]:
        words = len(self.indptr) - 1
        return words, words

    def __getitem__(self, rows: slice) -> sp.csr_matrix:
        """Return consecutive rows. Raises CorruptError if the rows cannot belong to a matrix of counts."""
        start, stop, _ = rows.indices(self.shape[0])
        bounds = self.indptr[start : stop + 1]
        first, last = int(bounds[0]), int(bounds[-1])
        try:
            columns, values = self.columns.read(first, last), self.values.read(first, last)
            part = sp.csr_matrix((values, columns, bounds - first), (stop - start, self.shape[1]), copy=False)
            check_entries(part)
        except CorruptError as error:
            error.where = self.where
            raise
        return part


@dataclass(frozen=True)
class StoredCooccurrence:
    """Co-occurrence counts in a file, as input for :func:`nlptx.fit_pca`.

    Args:
        matrix: the symmetric (V, V) matrix of counts.
        vocabulary: the V words.
        settings: settings with which the corpus was counted.
        details: number of tokens, and other information about the corpus, such as its digest.
    """

    matrix: StoredMatrix
    vocabulary: Vocabulary
    settings: CountSettings
    details: dict[str, Any]

    @classmethod
    def of(cls, counts: Counts) -> StoredCooccurrence:
        """Convert the result of counting, whose matrix may be in temporary files."""
        columns, values = counts.matrix.columns, counts.matrix.values
        indptr = counts.matrix.indptr().astype(index_type(len(columns)))
        matrix = StoredMatrix(indptr, columns, values, "the counts")
        return cls(matrix, counts.vocabulary, counts.settings, counts.details)

    @classmethod
    def open(cls, path: FilePath, budget: MemoryBudget) -> StoredCooccurrence:
        """Open a file written by ``nlptx cooccur``. The file stays open until the budget's ``with`` block ends.

        Raises:
            ArtifactError: the file is not a co-occurrence matrix or is damaged.
            SettingsError: the file does not exist.
        """
        artifact = read(path, KIND, large=("indices", "data"), budget=budget)
        name = file_name(path)

        def from_artifact(artifact: Artifact) -> StoredCooccurrence:
            settings, vocabulary = read_settings(artifact)
            matrix = StoredMatrix(*matrix_arrays(artifact, len(vocabulary)), name)
            return cls(matrix, vocabulary, settings, artifact.details)

        return build(artifact, from_artifact, name)

    def to_artifact(self) -> Artifact:
        """Return the counts as an artifact, whose large arrays are still in the file."""
        matrix = self.matrix
        return matrix_artifact(
            matrix.indptr, matrix.columns, matrix.values, self.vocabulary, self.settings, self.details
        )
