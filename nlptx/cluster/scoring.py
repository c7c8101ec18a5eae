"""Scores texts on the workers of a cluster, for ``nlptx evaluate``, which passes the texts to the workers in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import Scored, score
from nlptx.cluster.cluster_workers import ClusterWorkers
from nlptx.cluster.stored import Stored
from nlptx.runtime.workers import SERIAL

# Number of texts per task.
BATCH = 2048


@dataclass(frozen=True)
class ScoreTask:
    """The task of scoring texts.

    Args:
        first: index of the first text, from 0.
        count: number of texts.
        texts: the texts, stored in a file.
    """

    first: int
    count: int
    texts: Stored[list[str]]

    def __str__(self) -> str:
        return f"texts {self.first + 1:,} to {self.first + self.count:,}"


def score_on_workers(
    texts: Sequence[str],
    model: str | None,
    workers: ClusterWorkers,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Scored]:
    """Yield the prediction for each text, in order.

    Args:
        texts: texts to score.
        model: absolute path of the model; None for the bundled model.
        workers: workers of the cluster.
        on_progress: called with the number of texts that have been scored.

    Raises:
        ArtifactError: a score is NaN, because the model's weights are too large.
        OutputError: an intermediate result cannot be written.
    """

    def tasks() -> Iterator[ScoreTask]:
        for first in range(0, len(texts), BATCH):
            part = list(texts[first : first + BATCH])
            yield ScoreTask(first, len(part), Stored.write(workers.folder, "texts", part))

    done = 0
    for scored in workers.map_shared(_score, model, tasks()):
        yield from scored
        done += len(scored)
        on_progress(done)


def load_cached(path: str | None) -> Model:
    """Return a model. It stays in memory for later tasks of this process, and is loaded again if its file changes."""
    if path is None:
        return _loaded(None, ())
    with open(path, "rb") as file:  # network file systems check on opening whether the file was replaced
        status = os.fstat(file.fileno())
    return _loaded(path, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))


@lru_cache(maxsize=1)
def _loaded(path: str | None, identity: tuple[int, ...]) -> Model:
    return Model.load(path)


def _score(model: str | None, task: ScoreTask) -> list[Scored]:
    pairs = ((None, text) for text in task.texts.read())
    return [row for batch in score(load_cached(model), pairs, SERIAL) for _, row in batch]
