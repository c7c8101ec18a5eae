"""Stage 1: turns texts into a sparse matrix of word-by-word co-occurrence counts.

Counting the words in a window around each word is the method of Lund & Burgess (1996). The default weight 1/d of a word
at distance d comes from Pennington et al. (2014, GloVe).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from nlptx.arguments.collections import iterate_texts
from nlptx.arguments.values import check_natural, check_settings, with_type
from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import load, write
from nlptx.artifacts.validation import checked_before_saving
from nlptx.cooccurrence.checks import check_entries, check_symmetric, matrix_arrays, read_settings
from nlptx.cooccurrence.count import count_corpus
from nlptx.cooccurrence.counts_artifact import KIND, index_type, matrix_artifact
from nlptx.errors import DataError, InputTypeError
from nlptx.io.memory_budget import MemoryBudget
from nlptx.io.paths import FilePath, file_name
from nlptx.runtime.workers import Workers
from nlptx.settings import DEFAULT_MEMORY, CountSettings
from nlptx.text.blocks import in_blocks
from nlptx.text.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)  # == would compare matrices element by element
class Cooccurrence:
    """The co-occurrence counts of a corpus.

    Args:
        matrix: (V, V) float64 counts in CSR format. The matrix is symmetric, and its indices are sorted.
        vocabulary: the V words.
        settings: settings that were used for counting.
        details: number of tokens, and other information about the corpus, such as its digest.

    Raises:
        DataError: the matrix does not have one row and one column per word, or is not symmetric.
        InputTypeError: the matrix is not in CSR format.
    """

    matrix: sp.csr_matrix
    vocabulary: Vocabulary
    settings: CountSettings
    details: dict[str, Any]

    def __post_init__(self) -> None:
        if getattr(self.matrix, "format", None) != "csr":
            raise InputTypeError(f"the matrix is {with_type(self.matrix)}; expected a sparse matrix in CSR format")
        if self.matrix.shape != (len(self.vocabulary),) * 2:
            rows, columns = self.matrix.shape
            raise DataError(
                f"the matrix of counts has {rows:,} rows and {columns:,} columns, but there are"
                f" {len(self.vocabulary):,} words; expected one row and one column per word"
            )
        check_symmetric(self.matrix)

    def __repr__(self) -> str:
        return f"<Cooccurrence: {len(self.vocabulary):,} words, {self.matrix.nnz:,} entries>"

    def save(self, path: FilePath) -> None:
        """Write the counts to a file that ``scipy.sparse.load_npz`` can also read.

        Raises:
            DataError: :meth:`load` could not read the file: the matrix has another dtype or shape, or an invalid count.
            OutputError: the file cannot be written.
        """
        artifact = self.to_artifact()
        with checked_before_saving("the counts"):
            matrix_arrays(artifact, len(self.vocabulary))
            check_entries(self.matrix)
        write(path, artifact)

    @classmethod
    def load(cls, path: FilePath) -> Cooccurrence:
        """Read a file written by :meth:`save` or ``nlptx cooccur``.

        Raises:
            ArtifactError: the file is not a co-occurrence matrix or is damaged.
            SettingsError: the file does not exist.
        """
        return load(path, KIND, cls.from_artifact)

    def to_artifact(self) -> Artifact:
        """Return the counts as an artifact. If it is written to a file, ``scipy.sparse.load_npz`` can read the file."""
        indices = self.matrix.indices.astype(np.int32, copy=False)
        return matrix_artifact(
            self.matrix.indptr, indices, self.matrix.data, self.vocabulary, self.settings, self.details
        )

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> Cooccurrence:
        """Build the counts from an artifact. Raises CorruptError if the artifact's settings or arrays are invalid."""
        settings, vocabulary = read_settings(artifact)
        size = len(vocabulary)
        indptr, indices, data = matrix_arrays(artifact, size)
        matrix = sp.csr_matrix((data, indices, indptr), shape=(size, size), copy=False)
        check_entries(matrix)
        return cls(matrix, vocabulary, settings, artifact.details)


def count(
    texts: Iterable[str],
    settings: CountSettings | None = None,
    jobs: int | Workers | None = None,
    *,
    memory: int = DEFAULT_MEMORY,
    tmp_dir: FilePath | None = None,
) -> Cooccurrence:
    """Count how often words occur near each other.

    Each occurrence of two words i and j at a distance d <= ``window`` in a text adds w(d) to the entries (i, j) and
    (j, i). By default, w(d) is 1/d.

    Args:
        texts: a list, tuple, array, Series or any other iterable of str.
        settings: see :class:`CountSettings`.
        jobs: number of workers, or a :class:`Workers` object; by default, one worker per core. The number of workers
            does not change the result. The workers are processes or threads; see :func:`nlptx.fit`.
        memory: maximum number of bytes used for counting; data that exceeds this limit goes to temporary files. If
            there are more distinct words than fit in memory, the rarest words are dropped. The memory limit does not
            apply to the result, which is always in memory.
        tmp_dir: folder for temporary files.

    Returns:
        An object with the symmetric (V, V) float64 matrix of counts in CSR format, and with the V words.

    Raises:
        DataError: no word occurs at least ``min_count`` times.
        InputTypeError: ``texts`` is not a collection of str, or another argument has the wrong type.
        OutputError: the temporary files cannot be written.
        SettingsError: ``jobs`` is invalid.

    >>> counts = count(["a good film", "a bad film"], CountSettings(min_count=1))
    >>> counts
    <Cooccurrence: 4 words, 10 entries>
    >>> counts.vocabulary.words
    ['a', 'film', 'bad', 'good']
    >>> counts.matrix.toarray()
    array([[0., 1., 1., 1.],
           [1., 0., 1., 1.],
           [1., 1., 0., 0.],
           [1., 1., 0., 0.]])
    """
    check_settings(settings, CountSettings)
    check_natural(memory, "memory")
    folder = None if tmp_dir is None else file_name(tmp_dir, "tmp_dir")
    # Numbers too small for a float become 0, even if the caller has told NumPy to raise an error for underflow.
    pool = Workers.of(jobs, prefer_processes=True)
    with np.errstate(under="ignore"), MemoryBudget(memory, folder) as budget, pool as workers:
        counts = count_corpus(in_blocks(iterate_texts(texts)), settings or CountSettings(), budget, workers)
        stored, size = counts.matrix, len(counts.vocabulary)
        indptr = stored.indptr().astype(index_type(len(stored.columns)))
        matrix = sp.csr_matrix((stored.values.array(), stored.columns.array(), indptr), shape=(size, size))
    return Cooccurrence(matrix, counts.vocabulary, counts.settings, counts.details)
