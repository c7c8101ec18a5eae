"""A model over a stream of texts: in order, as they come, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.inference import TrainedNetwork
from nlptx.runtime.prefetch import prefetch
from nlptx.runtime.workers import Workers
from nlptx.text.blocks import BLOCK, in_blocks
from nlptx.text.scanner import Scanner
from nlptx.text.vocabulary import Vocabulary, as_text
from nlptx.text.word_ids import words_to_ids

K = TypeVar("K")

# Texts that are scored together.
BATCH = 512
# Where a text may be cut and each part tokenised alone: at white space before a letter or digit. There it is never
# within an HTML line break, however that is written.
_GAP = re.compile(r"(?<!\s)\s++(?=[^\W_])")


@dataclass(frozen=True, slots=True)
class Scored:
    """What the model says of one text.

    Args:
        probabilities: of the C labels, summing to 1.
        best: place of the predicted label, see :meth:`nlptx.classifier.model.Model.choose`.
        score: expected label value, in [-1, 1]; None for labels without an order.
        known_words: words of the text the model read; with 0 the probabilities are the priors.
        truncated: whether it read only the head of the text.
        tokens: of the text, known or not.
    """

    probabilities: list[float]
    best: int
    score: float | None
    known_words: int
    truncated: bool
    tokens: int


class ScoringModel(TrainedNetwork, Protocol):
    """What scoring needs of a model; see :class:`nlptx.classifier.model.Model`."""

    vocabulary: Vocabulary

    def overflow_safe(self) -> Self:
        """Return the model as it scores."""

    def probabilities(self, encoded: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
        """Return (B, C) probabilities of encoded texts."""

    def choose(self, probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return (B,) predicted classes for probabilities."""

    def scores(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return (B,) scores of probabilities."""


def score(
    model: ScoringModel, pairs: Iterable[tuple[K, str]], workers: Workers, *, batch: int = BATCH
) -> Iterator[list[tuple[K, Scored]]]:
    """Score texts in order: from pairs of anything and a text to pairs of the same thing and a score, in batches.

    A batch does not wait for texts that have not arrived, nor its results for those of others, so a slow source is
    answered at once. Which texts happen to share a batch changes no bit of a score.

    Args:
        model: the classifier.
        pairs: read in a thread of its own, a few batches ahead.
        workers: see :class:`Workers`.
        batch: maximum number of texts scored together.

    Raises:
        ArtifactError: the model's weights are so large that a score is not a number.
        NlptxError: a worker process was killed.
    """
    overflow_safe = model.overflow_safe()
    scanner = Scanner(model.vocabulary.tokenizer)

    def work(texts: list[str]) -> list[Scored]:
        return _score_batch(overflow_safe, texts, scanner)

    with closing(prefetch(pairs, batch)) as groups:
        for kept, scored in workers.map_pairs(work, groups, isolated=True):
            yield list(zip(kept, scored, strict=True))


def _score_batch(model: ScoringModel, texts: Sequence[str], scanner: Scanner) -> list[Scored]:
    whole, tokens = _encode(model, texts, scanner)
    read = [ids[: model.settings.most_words] for ids in whole]
    probabilities = model.probabilities(read)
    scores = model.scores(probabilities)
    columns = (
        probabilities.tolist(),
        model.choose(probabilities).tolist(),
        [None] * len(texts) if scores is None else scores.tolist(),
        map(len, read),
        [len(ids) < len(all_ids) for ids, all_ids in zip(read, whole, strict=True)],
        tokens.tolist(),
    )
    return [Scored(*row) for row in zip(*columns, strict=True)]


def _encode(
    model: ScoringModel, texts: Sequence[str], scanner: Scanner
) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
    """Return the ids of the known words of each text, and how many tokens it has.

    A huge text goes piece by piece, as its tokens take far more memory than it does.
    """
    parts = [list(pieces(text)) for text in texts]
    chunk = words_to_ids(in_blocks(part for cut in parts for part in cut), scanner)
    index = model.vocabulary.index
    known = np.array([index.get(as_text(word), -1) for word in chunk.words], np.int32)
    ids = known[chunk.ids]
    text = np.repeat(np.arange(len(texts)), [len(cut) for cut in parts])
    lengths = np.bincount(text, chunk.lengths, len(texts)).astype(np.int64)
    places = np.flatnonzero(ids >= 0)
    ends = np.searchsorted(places, np.cumsum(lengths))
    return np.split(ids[places], ends[:-1]), lengths


def pieces(text: str, size: int = BLOCK) -> Iterator[str]:
    """Cut a text into one or more parts of about ``size`` characters that have the same tokens as the whole."""
    start = 0
    while gap := _GAP.search(text, start + size):
        yield text[start : gap.start()]
        start = gap.start()
    yield text[start:]
