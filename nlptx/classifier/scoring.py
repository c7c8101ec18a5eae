"""Scores a stream of texts in order and in bounded memory, without waiting for the end of the stream."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from nlptx.classifier.decision import Decision
from nlptx.classifier.inference import TrainedNetwork
from nlptx.classifier.label_types import Label
from nlptx.classifier.surprise import SurpriseMeter, TypicalSurprise
from nlptx.classifier.token_ids import encode_texts
from nlptx.runtime.prefetch import GROUP_CHARACTERS, prefetch
from nlptx.runtime.workers import Workers
from nlptx.text.scanner import Scanner, scanner_of
from nlptx.text.vocabulary import Vocabulary

K = TypeVar("K")
# The predictions for several texts, in the form in which processes exchange them: one list per field of
# :class:`Scored`. Sending one named tuple per text would take four times as long.
_Columns = tuple[list[Any], ...]

# Maximum number of texts that are scored together. The number is large, because scoring a short text takes little time.
BATCH = 4096


class Scored(NamedTuple):
    """Prediction for one text: a named tuple, because creating a dataclass instance takes twice as long.

    Args:
        probabilities: probabilities of the C labels. For a single-label model, the probabilities sum to 1.
        chosen: indices of the predicted labels, as chosen by :meth:`nlptx.classifier.model.Model.choose`; exactly one
            for a single-label model.
        confidence: probability of the prediction.
        score: expected label value, in [-1, 1]; None for labels without an order.
        known_words: number of words that the model read: those that are known or have a known form. If there are none,
            the probabilities are the priors.
        truncated: whether the model read only the beginning of the text.
        tokens: number of tokens in the text, known or unknown.
        surprise: how rare the words of the text are in the training texts, in units of the standard deviation among
            texts of the same length. The surprise is None if it was not measured, if the text has no tokens, or if the
            model stores no word counts.
        unusual: whether the text is unlike the training texts, because its surprise exceeds that of 99.5% of them, or
            because it has no known word. None if ``surprise`` is None.
    """

    probabilities: list[float]
    chosen: tuple[int, ...]
    confidence: float
    score: float | None
    known_words: int
    truncated: bool
    tokens: int
    surprise: float | None = None
    unusual: bool | None = None

    def is_answered(self, abstain: float, *, prior: bool = False) -> bool:
        """Return whether the text gets a prediction: it has a known word, and its confidence is at least ``abstain``.

        If ``prior`` is true, only the confidence counts: a text without a known word can also get a prediction, from
        the priors.
        """
        return (prior or self.known_words > 0) and self.confidence >= abstain


class ScoringModel(TrainedNetwork, Protocol):
    """Interface of the models that can score texts; see :class:`nlptx.classifier.model.Model`."""

    vocabulary: Vocabulary
    labels: list[Label]
    typical_surprise: TypicalSurprise | None

    def overflow_safe(self) -> Self:
        """Return this model or, if computing in float32 might overflow, a copy that computes in float64."""

    def probabilities(self, encoded: Sequence[NDArray[np.int32]]) -> NDArray[np.float64]:
        """Return (B, C) probabilities for B encoded texts."""

    @property
    def decision(self) -> Decision:
        """The rule that converts probabilities to labels."""

    def scores(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return (B,) scores for probabilities (B, C), or None for labels without an order."""


def score(
    model: ScoringModel,
    pairs: Iterable[tuple[K, str]],
    workers: Workers,
    *,
    batch: int = BATCH,
    read_ahead: bool = True,
    surprise: bool = True,
) -> Iterator[list[tuple[K, Scored]]]:
    """Yield batches of (key, prediction) pairs, in the order of the texts.

    With ``read_ahead``, results appear immediately, even if texts arrive slowly: texts are scored as soon as they
    arrive, without waiting for a full batch, and the results of a batch are yielded without waiting for later batches.
    The scores do not depend, not even in the last bit, on how the texts are grouped into batches.

    Args:
        model: the classifier.
        pairs: (key, text) pairs, where a key may be any object.
        workers: threads or processes that score the texts; see :class:`Workers`.
        batch: maximum number of texts scored together.
        read_ahead: whether ``pairs`` are read in a separate thread, a few batches ahead of the scoring. Without
            ``read_ahead``, the pairs are read in the calling thread, and a batch is scored only when it is full.
        surprise: whether to measure the surprise of each text; the first measurement takes a few milliseconds.

    Raises:
        ArtifactError: the model's weights are so large that an output is not finite.
        NlptxError: a worker process was killed.
    """
    overflow_safe = model.overflow_safe()
    scanner = scanner_of(model.vocabulary.tokenizer)
    meter = SurpriseMeter(model.vocabulary, model.typical_surprise) if surprise else None

    def work(texts: list[str]) -> _Columns:
        return _score_batch(overflow_safe, texts, scanner, meter)

    with closing(prefetch(pairs, batch) if read_ahead else _in_groups(pairs, batch)) as groups:
        for keys, columns in workers.map_pairs(work, groups, isolated=True):
            yield list(zip(keys, map(Scored._make, zip(*columns, strict=True)), strict=True))


def score_texts(
    model: ScoringModel, texts: Iterable[str], jobs: int | Workers | None, *, surprise: bool = False
) -> Generator[list[Scored]]:
    """Yield batches of predictions for texts, as :func:`score` does. The texts are read in the calling thread.

    Use :func:`contextlib.closing`: as long as the generator is open, every BLAS is limited to one thread. After Ctrl-C,
    a traceback could otherwise keep the generator open.
    """
    with Workers.of(jobs) as workers:
        pairs = ((None, text) for text in texts)
        for batch in score(model, pairs, workers, read_ahead=False, surprise=surprise):
            yield [scored for _, scored in batch]


def score_all(model: ScoringModel, texts: Iterable[str], jobs: int | Workers | None) -> list[Scored]:
    """Return the predictions for all texts; see :func:`score_texts`."""
    with closing(score_texts(model, texts, jobs)) as batches:
        return [scored for batch in batches for scored in batch]


def _in_groups(pairs: Iterable[tuple[K, str]], size: int) -> Generator[tuple[list[K], list[str]]]:
    """Yield groups of at most ``size`` pairs, fewer if the texts are long, each as ``([key, ...], [text, ...])``."""
    keys, texts, characters = list[K](), list[str](), 0
    for key, text in pairs:
        keys.append(key)
        texts.append(text)
        characters += len(text)
        if len(texts) == size or characters >= GROUP_CHARACTERS:
            yield keys, texts
            keys, texts, characters = [], [], 0
    if texts:
        yield keys, texts


def _score_batch(model: ScoringModel, texts: Sequence[str], scanner: Scanner, meter: SurpriseMeter | None) -> _Columns:
    """Return the predictions for several texts."""
    tokens = encode_texts(model.vocabulary, texts, scanner)
    encoded = tokens.ids_read(model.vocabulary)
    max_tokens = model.settings.max_tokens
    read = encoded if max_tokens is None else [ids[:max_tokens] for ids in encoded]
    probabilities = model.probabilities(read)
    scores = model.scores(probabilities)
    chosen = model.decision.choose(probabilities)
    missing = [None] * len(texts)
    surprise, unusual = (missing, missing) if meter is None else meter.measure(tokens)
    return (
        probabilities.tolist(),
        model.decision.classes(chosen),
        model.decision.confidence(probabilities, chosen).tolist(),
        missing if scores is None else scores.tolist(),
        [len(ids) for ids in read],
        [len(ids) < len(all_ids) for ids, all_ids in zip(read, encoded, strict=True)],
        tokens.lengths.tolist(),
        surprise,
        unusual,
    )
