"""Word vectors: nearest neighbours, analogies, and their artifact."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.artifacts.container import Artifact, load
from nlptx.artifacts.validation import need_array, read_tokenizer, read_vocabulary
from nlptx.errors import CorruptError, DataError
from nlptx.settings import SEED
from nlptx.text.vocabulary import Vocabulary

KIND = "embeddings"
TEXT_SUFFIXES = (".txt", ".vec")


@dataclass(frozen=True)
class Embeddings:
    """One vector per word.

    Args:
        vectors: (V, R) float32.
        vocabulary: the V words.
        eigenvalues: (R,) float64 eigenvalues of the PCA; empty if the vectors were made by another program, as are the
            next two.
        residuals: (R,) float64 relative residuals |Av - lv| / l.
        explained: (R,) float64 share of the sum of squares that each component explains.
        settings: settings of the stage that made the vectors.
        details: further facts, such as the digest of the corpus.
        made_from: header of the co-occurrence artifact.
        seed: seed of the random start.
    """

    vectors: NDArray[np.float32]
    vocabulary: Vocabulary
    eigenvalues: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    residuals: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    explained: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    settings: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    made_from: dict[str, Any] | None = None
    seed: int = SEED

    def nearest(self, word: str, top: int = 10) -> list[tuple[str, float]]:
        """Return the ``top`` words with the largest cosine similarity to ``word``, with that cosine.

        Raises:
            DataError: the word is unknown.
        """
        index = self._index_of(word)
        return self._closest(self._unit_vectors()[index], [index], top)

    def analogy(self, a: str, b: str, c: str, top: int = 10) -> list[tuple[str, float]]:
        """Return words d such that a is to b as c is to d: the largest cosine to b - a + c (Mikolov et al. 2013).

        Raises:
            DataError: a word is unknown.
        """
        indices = [self._index_of(word) for word in (a, b, c)]
        unit_a, unit_b, unit_c = self._unit_vectors()[indices]
        goal = unit_b - unit_a + unit_c
        return self._closest(goal / (np.linalg.norm(goal) or 1), indices, top)

    def _index_of(self, word: str) -> int:
        tokenizer = self.vocabulary.tokenizer
        index = self.vocabulary.index.get(word.lower() if tokenizer.lowercase else word)
        if index is None:
            raise DataError(f"{word!r} is not among the {len(self.vocabulary)} words of these embeddings")
        return index

    def _unit_vectors(self) -> NDArray[np.float32]:
        # In float64, because the square of a large float32 overflows.
        squares = np.einsum("vr,vr->v", self.vectors, self.vectors, dtype=np.float64)
        lengths = np.sqrt(squares)[:, None]
        return np.divide(self.vectors, np.where(lengths > 0, lengths, 1), dtype=np.float32)

    def _closest(self, goal: NDArray, excluded: list[int], top: int) -> list[tuple[str, float]]:
        cosines = self._unit_vectors() @ goal
        order = np.argsort(-cosines, kind="stable")
        best = order[~np.isin(order, excluded)][:top]
        return [(self.vocabulary.words[index], float(cosines[index])) for index in best]

    def to_artifact(self) -> Artifact:
        """Return the artifact."""
        arrays: dict[str, NDArray] = {
            "vectors": self.vectors,
            "eigenvalues": self.eigenvalues,
            "residuals": self.residuals,
            "explained": self.explained,
            **self.vocabulary.to_arrays(),
        }
        tokenizer = self.vocabulary.tokenizer
        details = {**self.details, "tokenizer": tokenizer.name, "lowercase": tokenizer.lowercase}
        return Artifact(KIND, self.settings, arrays, self.made_from, details, self.seed)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> Embeddings:
        """Build from an artifact. Raises CorruptError if its arrays are inconsistent."""
        details = dict(artifact.details)
        tokenizer = read_tokenizer(details)
        vocabulary = read_vocabulary(artifact, tokenizer)
        vectors = need_array(artifact, "vectors", "float32", (len(vocabulary), None))
        if not vectors.size:
            raise CorruptError("it holds no vectors")
        tables = {}
        for name in ("eigenvalues", "residuals", "explained"):
            tables[name] = need_array(artifact, name, "float64", (None,))
            if len(tables[name]) not in (0, vectors.shape[1]):
                raise CorruptError(f"array {name!r} has {len(tables[name])} entries; expected {vectors.shape[1]}")
        return cls(
            vectors,
            vocabulary,
            **tables,
            settings=artifact.settings,
            details=details,
            made_from=artifact.made_from,
            seed=artifact.seed,
        )


def load_embeddings(path: str) -> Embeddings:
    """Load word vectors: an artifact, or word2vec/GloVe text if the name ends in .txt or .vec.

    Raises:
        ArtifactError: the file does not hold embeddings.
        DataError: a line of a text file is not a word followed by numbers.
    """
    if path.endswith(TEXT_SUFFIXES):
        from nlptx.embeddings.word2vec_format import read_word2vec

        return read_word2vec(path)
    return load(path, KIND, Embeddings.from_artifact)
