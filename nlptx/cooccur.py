"""Stage 1: texts -> sparse word-by-word co-occurrence counts.

Source: the windowed counts of Lund & Burgess (1996), with the 1/d weights of Pennington et al. (2014, GloVe).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from nlptx.artifacts import Artifact
from nlptx.errors import CorruptError, DataError
from nlptx.pairs import count_pairs, unit_weights
from nlptx.parts import need_array, read_vocabulary
from nlptx.settings import CountSettings
from nlptx.text import Tokenizer, Vocabulary, rank_words
from nlptx.tokens import TokenStream, default_jobs, read_tokens

KIND = "cooccurrence"
# Counts are sums of integers, exact up to here.
_LARGEST_COUNT = 2.0**53


@dataclass(frozen=True)
class Cooccurrence:
    """Word-by-word counts.

    Args:
        matrix: (V, V) float64 CSR, symmetric, sorted indices.
        vocabulary: the V words.
        settings: how it was counted.
        details: documents, tokens and the corpus digest where known.
    """

    matrix: sp.csr_matrix
    vocabulary: Vocabulary
    settings: CountSettings
    details: dict[str, Any]

    def to_artifact(self) -> Artifact:
        """Return the artifact; its file also opens with ``scipy.sparse.load_npz``."""
        arrays = {
            "format": np.array(b"csr"),
            "shape": np.array(self.matrix.shape, np.int64),
            "indptr": self.matrix.indptr,
            "indices": self.matrix.indices,
            "data": self.matrix.data,
            **self.vocabulary.to_arrays(),
        }
        return Artifact(KIND, self.settings.to_dict(), arrays, None, self.details)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> Cooccurrence:
        """Check and wrap an artifact. Raises CorruptError where its settings or arrays are impossible."""
        settings = CountSettings.from_dict(artifact.settings)
        vocabulary = read_vocabulary(artifact, Tokenizer(settings.tokenizer, settings.lowercase))
        size = len(vocabulary)
        data = need_array(artifact, "data", "float64", (None,))
        index_type = artifact.arrays["indices"].dtype.name if "indices" in artifact.arrays else "int32"
        if index_type not in ("int32", "int64"):
            raise CorruptError(f"array 'indices' is {index_type}; expected integers")
        indices = need_array(artifact, "indices", index_type, (len(data),))
        indptr = need_array(artifact, "indptr", index_type, (size + 1,))
        if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
            raise CorruptError("the matrix' row bounds are impossible")
        if len(indices) and (indices.min() < 0 or indices.max() >= size):
            raise CorruptError("the matrix names a word that does not exist")
        if (data <= 0).any() or (data > _LARGEST_COUNT).any():
            raise CorruptError("the matrix holds a count that is zero, negative or beyond 2^53")
        if (need_array(artifact, "shape", "int64", (2,)) != size).any():
            raise CorruptError(f"the matrix is not one of {size} x {size} words")
        matrix = sp.csr_matrix((data, indices, indptr), shape=(size, size), copy=False)
        if not matrix.has_canonical_format:
            raise CorruptError("the matrix' entries are unsorted or repeated")
        return cls(matrix, vocabulary, settings, artifact.details)


def count(texts: Iterable[str], settings: CountSettings | None = None, jobs: int | None = None) -> Cooccurrence:
    """Count which words occur near each other.

    Each word's context is the ``window`` words before and after it in its document; words outside the
    vocabulary are left out first, as GloVe and word2vec do. Counts are exact sums of integers, divided once.

    Args:
        texts: the documents.
        settings: see :class:`CountSettings`.
        jobs: worker processes and threads; all cores by default. It does not change the result.

    Raises:
        DataError: no text, or no word is frequent enough.
    """
    settings = settings or CountSettings()
    jobs = jobs or default_jobs()
    tokenizer = Tokenizer(settings.tokenizer, settings.lowercase)
    stream = read_tokens(texts, tokenizer, jobs)
    vocabulary = _choose_words(stream.counts, settings, tokenizer)
    ids, documents = _renumber(stream, vocabulary)
    units, one = unit_weights(settings.weighting, settings.window)
    matrix = count_pairs(ids, documents, len(vocabulary), units, jobs)
    # Divided entry by entry: dividing the matrix would multiply by 1/one, which rounds twice.
    matrix = sp.csr_matrix((matrix.data / one, matrix.indices, matrix.indptr), matrix.shape)
    details = {"tokens": sum(stream.counts.values()), "known_tokens": len(ids), "distinct_words": len(stream.counts)}
    return Cooccurrence(matrix, vocabulary, settings, details)


def _choose_words(counts: dict[str, int], settings: CountSettings, tokenizer: Tokenizer) -> Vocabulary:
    if not counts:
        raise DataError("the corpus is empty: no word was found in it")
    words = rank_words(counts, settings.min_count, settings.max_words)
    if not words:
        top = max(counts, key=counts.__getitem__)
        raise DataError(
            f"no word occurs {settings.min_count} times; the most frequent, {top!r}, occurs {counts[top]} times",
            hint="Lower --min-count, or give more text.",
        )
    return Vocabulary(words, np.array([counts[word] for word in words], np.int64), tokenizer)


def _renumber(stream: TokenStream, vocabulary: Vocabulary) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the vocabulary id, and the document, of each known token: two (N,) int32 arrays."""
    place = np.fromiter((vocabulary.index.get(word, -1) for word in stream.counts), np.int32, len(stream.counts))
    ids, documents = [], []
    first = 0
    while stream.chunks:
        numbers, lengths = stream.chunks.pop(0)  # each chunk is freed as soon as it is renumbered
        known = place[numbers]
        document = np.repeat(np.arange(first, first + len(lengths), dtype=np.int32), lengths)
        kept = known >= 0
        ids.append(known[kept])
        documents.append(document[kept])
        first += len(lengths)
    return np.concatenate(ids), np.concatenate(documents)
