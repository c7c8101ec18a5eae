"""A model over a stream of texts: in order, as they come, in bounded memory."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from nlptx.classifier.model import Model
from nlptx.runtime.executor import workers
from nlptx.runtime.parallel import default_jobs
from nlptx.runtime.prefetch import arriving
from nlptx.text.blocks import BLOCK, in_blocks
from nlptx.text.scanner import Scanner
from nlptx.text.vocabulary import as_text
from nlptx.text.word_ids import words_to_ids

# Texts that are scored together.
BATCH = 512
# Where a text may be cut and each part tokenised alone: at the first white space after something else, which is not
# within a line break of HTML.
_GAP = re.compile(r"(?<!\s)(?<!<br)\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scored:
    """What the model says of one text.

    Args:
        probabilities: of the C labels, summing to 1.
        best: place of the most probable label.
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


def score(
    model: Model,
    texts: Iterable[str],
    *,
    jobs: int | None = None,
    batch: int = BATCH,
    processes: bool = False,
) -> Iterator[list[Scored]]:
    """Score texts in order, and yield the results of a batch at a time.

    Results are yielded as soon as they are there, and a batch does not wait for texts that have not
    arrived, so a slow source is answered at once. Which texts happen to share a batch changes no bit of a score.

    Args:
        model: the classifier.
        texts: read in a thread of their own, a few batches ahead.
        jobs: workers; all cores by default.
        batch: most texts scored together.
        processes: whether workers are processes, see :func:`nlptx.runtime.executor.workers`; else they are threads.

    Raises:
        ArtifactError: the model's weights are so large that a score is not a number.
        NlptxError: a worker process was ended from outside.
        TypeError: ``texts`` is one string, whose letters nobody means.
    """
    if isinstance(texts, str):
        raise TypeError("texts is a string; give a list of texts, if only of one")
    jobs = jobs or default_jobs()
    overflow_safe = model.overflow_safe()
    scanner = Scanner(model.vocabulary.tokenizer)

    def work(part: list[str]) -> list[Scored]:
        return _score_batch(overflow_safe, part, scanner)

    with (
        threadpool_limits(1),
        workers(work, jobs, processes=processes) as submit,
        closing(arriving(texts, batch)) as parts,
    ):
        waiting: deque[Future[list[Scored]]] = deque()
        failure: Exception | None = None
        while True:
            try:
                part = next(parts)
            except StopIteration:
                break
            except Exception as error:  # of the source; what came before it is still owed
                failure = error
                break
            waiting.append(submit(part.items))
            # Results are due while the source pauses, or when enough work is under way.
            while waiting and (part.paused or len(waiting) > jobs + 1 or waiting[0].done()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
        if failure is not None:
            raise failure


def _score_batch(model: Model, texts: Sequence[str], scanner: Scanner) -> list[Scored]:
    whole, tokens = _encode(model, texts, scanner)
    read = [ids[: model.settings.most_words] for ids in whole]
    probabilities = model.probabilities(read)
    scores = model.scores(probabilities)
    columns = (
        probabilities.tolist(),
        probabilities.argmax(axis=1).tolist(),
        [None] * len(texts) if scores is None else scores.tolist(),
        map(len, read),
        [len(ids) < len(all_ids) for ids, all_ids in zip(read, whole, strict=True)],
        tokens.tolist(),
    )
    return [Scored(*row) for row in zip(*columns, strict=True)]


def _encode(model: Model, texts: Sequence[str], scanner: Scanner) -> tuple[list[NDArray[np.int32]], NDArray[np.int64]]:
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
