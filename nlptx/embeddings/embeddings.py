"""Word vectors: nearest neighbours, analogies, and the artifact that stores the vectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nlptx.arguments.values import check_natural, check_text
from nlptx.artifacts.artifact import Artifact
from nlptx.artifacts.container import load, write
from nlptx.artifacts.validation import checked_before_saving, read_tokenizer, read_vocabulary, require_array
from nlptx.embeddings.unknown_words import similar_words
from nlptx.embeddings.word2vec_format import is_text_file, read_word2vec, write_word2vec
from nlptx.errors import CorruptError, DataError
from nlptx.io.paths import FilePath, file_name
from nlptx.settings import SEED
from nlptx.text.cleaning import lower
from nlptx.text.vocabulary import Vocabulary

KIND = "embeddings"


@dataclass(frozen=True, eq=False)  # == would compare arrays element by element
class Embeddings:
    """The vectors of the words in a vocabulary.

    Args:
        vectors: (V, R) float32 vectors, one row per word.
        vocabulary: the V words.
        eigenvalues: (R,) float64 eigenvalues of the PCA. The arrays ``eigenvalues``, ``residuals`` and ``explained``
            are empty if the vectors were not made by PCA in nlptx.
        residuals: (R,) float64 relative residuals of the eigenpairs.
        explained: (R,) float64 fraction of the sum of squares of the transformed counts that each component explains;
            see :func:`nlptx.fit_pca`.
        column_weights: (R,) float64 positive factors by which PCA multiplied the columns of the vectors to improve
            cosine similarities. Empty if PCA did not multiply the columns.
        settings: settings of the stage that made the vectors.
        details: other information, such as the digest of the corpus.
        made_from: header of the artifact from which the vectors were made, or None.
        seed: seed of the PCA.
    """

    vectors: NDArray[np.float32]
    vocabulary: Vocabulary
    eigenvalues: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    residuals: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    explained: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    column_weights: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    settings: dict[str, Any] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    made_from: dict[str, Any] | None = None
    seed: int = SEED

    def __repr__(self) -> str:
        words, size = self.vectors.shape
        return f"<Embeddings: {words:,} words, {size:,} components>"

    def unweighted(self) -> NDArray[np.float32]:
        """Return the vectors divided by their column weights, (V, R). Training starts from these vectors."""
        if not len(self.column_weights):
            return self.vectors
        return np.divide(self.vectors, self.column_weights, dtype=np.float32, casting="same_kind")

    def nearest(self, word: str, top: int = 10) -> list[tuple[str, float]]:
        """Return the ``top`` words with the largest cosine similarity to ``word``, and their similarities.

        Raises:
            DataError: the word is unknown, or its vector is 0.
            InputTypeError, SettingsError: the word is not a str, or ``top`` is not a non-negative int.

        >>> from nlptx import Model
        >>> [word for word, cosine in Model.load().embeddings().nearest("terrible", top=2)]
        ['...', '...']
        """
        index, unit = self._index_of(word), self._unit_vectors()
        if not unit[index].any():
            raise DataError(f"the vector of {word!r} is 0, so no word is near it")
        return self._closest(unit, unit[index], [index], top)

    def nearest_by_spelling(self, word: str, top: int = 10) -> tuple[list[tuple[str, float]], list[str]]:
        """Return the words nearest to an unknown word, whose vector is estimated from words with a similar spelling.

        Returns:
            Two lists: the ``top`` words with the largest cosine similarities to the estimated vector, each with its
            similarity; and the words from which the vector was estimated, the most similar spelling first. See
            :mod:`nlptx.embeddings.unknown_words`.

        Raises:
            DataError: no known word has a similar spelling, or all vectors are 0.
            InputTypeError, SettingsError: the word is not a str, or ``top`` is not a non-negative int.

        >>> from nlptx import Model
        >>> Model.load().embeddings().nearest_by_spelling("amazingest", top=2)
        ([('amazing', ...), (..., ...)], ['amazing', 'amazingly', ...])
        """
        check_text(word, "word")
        unit, names = self._unit_vectors(), self.vocabulary.words
        similar = similar_words(self._normalized(word), names, self.vocabulary.counts)
        if not len(similar.indices):
            words = f"the {len(names):,} words that have vectors"
            raise DataError(f"{word!r} is not among {words}, and none of them has a similar spelling")
        target = similar.weights @ unit[similar.indices]
        nearest = self._closest(unit, target / (np.linalg.norm(target) or 1), [], top)
        return nearest, [names[index] for index in similar.indices.tolist()]

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._normalized(word) in self.vocabulary.index

    def analogy(self, a: str, b: str, c: str, top: int = 10) -> list[tuple[str, float]]:
        """Return the best words d for the analogy "a is to b as c is to d", and their cosine similarities.

        The best words are those with the largest cosine similarity to b - a + c, where a, b and c are unit vectors. The
        words a, b and c themselves are left out.

        Raises:
            DataError: a word is unknown, or all vectors are 0.
            InputTypeError, SettingsError: a word is not a str, or ``top`` is not a non-negative int.

        Source: Mikolov, Yih & Zweig (2013), "Linguistic regularities in continuous space word representations".
        """
        indices, unit = [self._index_of(word) for word in (a, b, c)], self._unit_vectors()
        unit_a, unit_b, unit_c = unit[indices]
        target = unit_b - unit_a + unit_c
        return self._closest(unit, target / (np.linalg.norm(target) or 1), indices, top)

    def _index_of(self, word: str) -> int:
        check_text(word, "word")
        index = self.vocabulary.index.get(self._normalized(word))
        if index is None:
            raise DataError(f"{word!r} is not among the {len(self.vocabulary):,} words that have vectors")
        return index

    def _normalized(self, word: str) -> str:
        return lower(word) if self.vocabulary.tokenizer.lowercase else word

    def check_has_vectors(self) -> None:
        """Raise DataError if a word has no finite vector, or if all vectors are 0, as in a model without a network."""
        if (rows := len(self.vectors)) != len(self.vocabulary):
            raise DataError(f"there are {rows} word vectors for {len(self.vocabulary)} words; expected one per word")
        if not np.isfinite(self.vectors).all():
            raise DataError("a word vector contains NaN or an infinite number")
        if rows and not self.vectors.any():
            raise DataError("all word vectors are 0", hint="A model trained with `epochs=0` has no word vectors.")

    def _unit_vectors(self) -> NDArray[np.float32]:
        """Return the vectors scaled to unit norm, (V, R); vectors of zeros do not change."""
        self.check_has_vectors()
        # The squares are summed in float64, because the square of a large float32 can overflow.
        squares = np.einsum("vr,vr->v", self.vectors, self.vectors, dtype=np.float64)
        lengths, result = np.sqrt(squares)[:, None], np.empty_like(self.vectors)
        return np.divide(self.vectors, np.where(lengths > 0, lengths, 1), result, casting="same_kind")

    def _closest(self, unit: NDArray, target: NDArray, excluded: list[int], top: int) -> list[tuple[str, float]]:
        """Return the words whose unit vectors (V, R) have the largest cosines with the unit vector ``target`` (R,)."""
        check_natural(top, "top")
        cosines = unit @ target
        order = np.argsort(-cosines, kind="stable")
        best = order[~np.isin(order, excluded)][:top]
        return [(self.vocabulary.words[index], float(cosines[index])) for index in best]

    def save(self, path: FilePath) -> None:
        """Write the vectors to a file atomically.

        If the name ends in .txt or .vec, the file has the word2vec text format; otherwise it is an artifact.

        Raises:
            DataError: :meth:`load` could not read the file: an array has a wrong dtype or shape, or is not finite.
            OutputError: the file cannot be written, or the text format cannot represent a word.
        """
        artifact = self.to_artifact()
        with checked_before_saving("the word vectors"):
            self.from_artifact(artifact)
        if is_text_file(file_name(path)):
            write_word2vec(path, self.vocabulary.words, self.vectors)
        else:
            write(path, artifact)

    @classmethod
    def load(cls, path: FilePath) -> Embeddings:
        """Read a file written by :meth:`save` or ``nlptx pca``, or a word2vec or GloVe text file (.txt, .vec).

        Raises:
            ArtifactError: the file does not contain embeddings or is damaged.
            DataError: a text file is invalid, for example because a line is not a word followed by numbers.
            SettingsError: the file does not exist, or is a folder.
        """
        if is_text_file(file_name(path)):
            return cls.from_word2vec(path)
        return load(path, KIND, cls.from_artifact)

    @classmethod
    def from_word2vec(cls, path: FilePath) -> Embeddings:
        """Read a word2vec or GloVe text file, whatever its name. For the errors, see :func:`.read_word2vec`."""
        content = read_word2vec(path)
        return cls(content.vectors, content.vocabulary, details={"source": "word2vec text", "sha256": content.sha256})

    def to_artifact(self) -> Artifact:
        """Return the artifact in which these word vectors are stored."""
        arrays: dict[str, NDArray] = {
            "vectors": self.vectors,
            "eigenvalues": self.eigenvalues,
            "residuals": self.residuals,
            "explained": self.explained,
            "column_weights": self.column_weights,
            **self.vocabulary.to_arrays(),
        }
        tokenizer = self.vocabulary.tokenizer
        details = {**self.details, "tokenizer": tokenizer.name, "lowercase": tokenizer.lowercase}
        return Artifact(KIND, self.settings, arrays, self.made_from, details, self.seed)

    @classmethod
    def from_artifact(cls, artifact: Artifact) -> Embeddings:
        """Build the word vectors from an artifact. Raises CorruptError if the arrays are inconsistent."""
        details = dict(artifact.details)
        tokenizer = read_tokenizer(details)
        vocabulary = read_vocabulary(artifact, tokenizer)
        vectors = require_array(artifact, "vectors", "float32", (len(vocabulary), None))
        if not vectors.size:
            raise CorruptError("it holds no vectors")
        tables = {}
        names = ["eigenvalues", "residuals", "explained"]
        names += ["column_weights"] if "column_weights" in artifact.arrays else []  # older artifacts lack this array
        for name in names:
            tables[name] = require_array(artifact, name, "float64", (None,))
            if len(tables[name]) not in (0, vectors.shape[1]):
                raise CorruptError(f"array {name!r} has {len(tables[name])} entries; expected {vectors.shape[1]}")
        if (tables.get("column_weights", np.ones(1)) <= 0).any():
            raise CorruptError("a column weight is not positive")
        return cls(
            vectors,
            vocabulary,
            **tables,
            settings=artifact.settings,
            details=details,
            made_from=artifact.made_from,
            seed=artifact.seed,
        )


def load_embeddings(path: FilePath) -> Embeddings:
    r"""Read word vectors from an artifact or a word2vec or GloVe text file. For errors, see :meth:`Embeddings.load`.

    >>> with open("vectors.txt", "w") as file:
    ...     print("good 1 0", "bad -1 0.5", sep="\n", file=file)
    >>> load_embeddings("vectors.txt")
    <Embeddings: 2 words, 2 components>
    """
    return Embeddings.load(path)
