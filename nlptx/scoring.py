"""A model over a stream of texts: in order, as they come, in bounded memory."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from nlptx.model import Model
from nlptx.parallel import default_jobs

T = TypeVar("T")
# Texts and tokens that go through the network together.
BATCH = 64
_BATCH_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Scored:
    """What the model says of one text.

    Args:
        probabilities: (C,) float64, summing to 1.
        known_words: words of the text the model read; with 0 the probabilities are the priors.
        truncated: whether it read only the head of the text.
    """

    probabilities: NDArray[np.float64]
    known_words: int
    truncated: bool


def score(model: Model, texts: Iterable[str], *, jobs: int | None = None, batch: int = BATCH) -> Iterator[list[Scored]]:
    """Score texts in order, and yield the results of a batch at a time.

    Results are yielded as soon as they are there, and a batch does not wait for texts that have not
    arrived, so a slow source is answered at once. Scores are computed in float64, so that which texts happen
    to share a batch shows in no digit anybody prints.

    Args:
        model: the classifier.
        texts: read in a thread of their own, a few batches ahead.
        jobs: threads; all cores by default.
        batch: most texts scored together.
    """
    jobs = jobs or default_jobs()
    exact = model.in_double()

    def work(part: list[str]) -> list[Scored]:
        return _score_batch(exact, part)

    with threadpool_limits(1), ThreadPoolExecutor(jobs) as pool:
        waiting: deque[Future[list[Scored]]] = deque()
        failure: Exception | None = None
        try:
            for part in arriving(texts, batch):
                waiting.append(pool.submit(work, part.items))
                # Results are due when the source has paused or enough work is under way.
                while waiting and (part.paused or len(waiting) > jobs + 1 or waiting[0].done()):
                    yield waiting.popleft().result()
        except Exception as error:
            failure = error  # what came before it is still owed
        while waiting:
            yield waiting.popleft().result()
        if failure is not None:
            raise failure


def _score_batch(model: Model, texts: Sequence[str]) -> list[Scored]:
    whole = [model.vocabulary.encode(text) for text in texts]
    read = [ids[: model.settings.most_words] for ids in whole]
    probabilities = np.concatenate([model.probabilities(part) for part in _by_tokens(read)])
    return [
        Scored(row, len(ids), len(ids) < len(all_ids))
        for row, ids, all_ids in zip(probabilities, read, whole, strict=True)
    ]


def _by_tokens(encoded: list[NDArray[np.int32]]) -> Iterator[list[NDArray[np.int32]]]:
    """Cut a batch where it would grow beyond what fits the caches."""
    part: list[NDArray[np.int32]] = []
    tokens = 0
    for ids in encoded:
        if part and tokens + len(ids) > _BATCH_TOKENS:
            yield part
            part, tokens = [], 0
        part.append(ids)
        tokens += len(ids)
    yield part


@dataclass(frozen=True)
class Part:
    """Items that arrived together; ``paused`` if the source then had no more ready."""

    items: list[str]
    paused: bool


_END = object()


def arriving(items: Iterable[str], most: int) -> Iterator[Part]:
    """Group items as they arrive, at most ``most`` a group, without waiting for more than one.

    A thread reads ahead by a few groups. An exception of the source is raised here, after what came before it.
    """
    ahead: queue.Queue[object] = queue.Queue(4 * most)
    closed = threading.Event()

    def put(item: object) -> None:
        while not closed.is_set():
            try:
                ahead.put(item, timeout=0.2)
                return
            except queue.Full:
                continue

    def read() -> None:
        try:
            for item in items:
                if closed.is_set():
                    return
                put(item)
            put(_END)
        except BaseException as error:  # handed over, and raised in the reader's place
            put(error)

    threading.Thread(target=read, name="nlptx-reader", daemon=True).start()
    try:
        while True:
            group: list[str] = []
            last: object = ahead.get()
            while last is not _END and not isinstance(last, BaseException):
                group.append(cast(str, last))
                if len(group) == most:
                    break
                try:
                    last = ahead.get_nowait()
                except queue.Empty:
                    break
            if group:
                yield Part(group, ahead.empty())
            if isinstance(last, BaseException):
                raise last
            if last is _END:
                return
    finally:
        closed.set()
