"""Scoring of a stream of texts, in order and in bounded memory, without waiting for the end of the stream."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.decision import Decision
from nlptx.classifier.inference import TrainedNetwork
from nlptx.runtime.prefetch import prefetch
from nlptx.runtime.workers import Workers
from nlptx.text.blocks import BLOCK, in_blocks
from nlptx.text.scanner import Scanner
from nlptx.text.vocabulary import Vocabulary, as_text
from nlptx.text.word_ids import words_to_ids

K = TypeVar("K")

# Maximum number of texts that are scored together.
BATCH = 512
# A text may be cut at white space before a letter or digit, so that the parts can be tokenised separately. Such a
# position is never inside an HTML line break, however the tag is written.
_GAP = re.compile(r"(?<!\s)\s++(?=[^\W_])")


@dataclass(frozen=True, slots=True)
class Scored:
    """Prediction for one text.

    Args:
        probabilities: probabilities of the C labels; they sum to 1, unless a text may have several labels.
        chosen: indices of the predicted labels; exactly one, unless a text may have several.
        confidence: probability of the prediction.
        score: expected label value, in [-1, 1]; None for labels without an order.
        known_words: number of known words that the model read; if it is 0, the probabilities are the priors.
        truncated: whether the model read only the beginning of the text.
        tokens: number of tokens in the text, known or unknown.
    """

    probabilities: list[float]
    chosen: tuple[int, ...]
    confidence: float
    score: float | None
    known_words: int
    truncated: bool
    tokens: int

    def is_answered(self, abstain: float) -> bool:
        """Return whether the text gets a prediction: it has a known word and at least the confidence ``abstain``."""
        return self.known_words > 0 and self.confidence >= abstain


class ScoringModel(TrainedNetwork, Protocol):
    """Interface of the models that can be scored; see :class:`nlptx.classifier.model.Model`."""

    vocabulary: Vocabulary

    def overflow_safe(self) -> Self:
        """Return a model for scoring whose computations do not overflow."""

    def probabilities(self, encoded: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
        """Return (B, C) probabilities for encoded texts."""

    @property
    def decision(self) -> Decision:
        """How probabilities become labels."""

    def scores(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return (B,) scores for probabilities (B, C), or None for labels without an order."""


def score(
    model: ScoringModel, pairs: Iterable[tuple[K, str]], workers: Workers, *, batch: int = BATCH
) -> Iterator[list[tuple[K, Scored]]]:
    """Yield batches of scores, in the order of the texts and each paired with the key of its text.

    Texts are scored as soon as they arrive, without waiting for a full batch, and the results of a batch are yielded
    without waiting for later batches, so results for a slow source appear immediately. The scores do not depend on how
    texts are grouped into batches, not even in the last bit.

    Args:
        model: the classifier.
        pairs: pairs of a key, which may be any object, and a text; read in a separate thread, a few batches ahead.
        workers: workers to use; see :class:`Workers`.
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
    encoded, tokens = _encode(model, texts, scanner)
    read = [ids[: model.settings.most_words] for ids in encoded]
    probabilities = model.probabilities(read)
    scores = model.scores(probabilities)
    chosen = model.decision.choose(probabilities)
    columns = (
        probabilities.tolist(),
        model.decision.classes(chosen),
        model.decision.confidence(probabilities, chosen).tolist(),
        [None] * len(texts) if scores is None else scores.tolist(),
        map(len, read),
        [len(ids) < len(all_ids) for ids, all_ids in zip(read, encoded, strict=True)],
        tokens.tolist(),
    )
    return [Scored(*row) for row in zip(*columns, strict=True)]


def _encode(
    model: ScoringModel, texts: Sequence[str], scanner: Scanner
) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
    """Return the ids of the known words of each text, and its number of tokens.

    A huge text is processed in pieces, because its tokens take far more memory than the text itself.
    """
    parts = [list(pieces(text)) for text in texts]
    chunk = words_to_ids(in_blocks(part for cut in parts for part in cut), scanner)
    index = model.vocabulary.index
    known = np.array([index.get(as_text(word), -1) for word in chunk.words], np.int32)
    ids = known[chunk.ids]
    text = np.repeat(np.arange(len(texts)), [len(cut) for cut in parts])
    lengths = np.bincount(text, chunk.lengths, len(texts)).astype(np.int64)
    positions = np.flatnonzero(ids >= 0)
    ends = np.searchsorted(positions, np.cumsum(lengths))
    return np.split(ids[positions], ends[:-1]), lengths


def pieces(text: str, size: int = BLOCK) -> Iterator[str]:
    """Cut a text into one or more parts of about ``size`` characters that together have the same tokens."""
    start = 0
    while gap := _GAP.search(text, start + size):
        yield text[start : gap.start()]
        start = gap.start()
    yield text[start:]
