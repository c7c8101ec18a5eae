"""Scores texts on the workers of a cluster, for ``evaluate``. This process reads the texts.

The texts and their scores go through files in a folder that all workers can access.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from nlptx.classifier.model import Model
from nlptx.classifier.scoring import BATCH, Scored, score
from nlptx.cluster.mapper import Mapper
from nlptx.cluster.stored import Stored
from nlptx.runtime.workers import SERIAL


@dataclass(frozen=True)
class ScoreTexts:
    """The task of scoring texts.

    Args:
        first: index of the first text, from 0.
        count: number of texts.
        texts: the texts.
    """

    first: int
    count: int
    texts: Stored[list[str]]

    def __str__(self) -> str:
        return f"texts {self.first + 1:,} to {self.first + self.count:,}"


def score_texts(
    texts: Sequence[str],
    model: str | None,
    folder: str,
    mapper: Mapper,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Iterator[Scored]:
    """Yield the prediction for each text, in order.

    Args:
        texts: texts to score.
        model: absolute path of the model; None for the bundled model.
        folder: folder that all workers can access, for intermediate results.
        mapper: a cluster, or the workers of this machine.
        on_progress: called with the number of texts that have been scored.

    Raises:
        ArtifactError: the model's weights are so large that a score is not a number.
        OutputError: an intermediate result cannot be written.
    """

    def tasks() -> Iterator[ScoreTexts]:
        for first in range(0, len(texts), BATCH):
            part = list(texts[first : first + BATCH])
            yield ScoreTexts(first, len(part), Stored.write(folder, "texts", part))

    done = 0
    for stored in mapper.map(partial(score_stored, model, folder), tasks(), isolated=True):
        scored = stored.take()
        yield from scored
        done += len(scored)
        on_progress(done)


def score_stored(model: str | None, folder: str, task: ScoreTexts) -> Stored[list[Scored]]:
    """Score the texts of a task on a worker. For the other arguments, see :func:`score_texts`."""
    pairs = ((None, text) for text in task.texts.read())
    scored = [row for batch in score(_load(model), pairs, SERIAL) for _, row in batch]
    return Stored.write(folder, "scores", scored)


@lru_cache(maxsize=1)
def _load(path: str | None) -> Model:
    return Model.load(path)
