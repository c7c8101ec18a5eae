"""Workers on a cluster, for the work that can be done anywhere, and workers on this machine for everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, TypeVar

from nlptx.cluster.mapper import Mapper
from nlptx.cluster.stored import Stored
from nlptx.runtime.workers import Workers

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S")


class ClusterWorkers(Workers):
    """The workers of this machine and those of a cluster.

    Only :meth:`map_shared` uses the cluster. Its data and its results go through files in a folder that all workers can
    access.

    Args:
        jobs: number of workers of this machine; all cores by default.
        mapper: the cluster.
        folder: absolute path of the folder.
    """

    def __init__(self, jobs: int | None, mapper: Mapper, folder: str) -> None:
        super().__init__(jobs, processes=True)
        self.folder = folder
        self._mapper = mapper

    @property
    def distributed(self) -> bool:
        return True

    def store(self, value: T) -> Callable[[], T]:
        """Write a value to a file. Return a function that reads it. Raises OutputError if this fails."""
        return Stored.write(self.folder, "stored", value).read

    def map_shared(self, work: Callable[[S, T], R], shared: S, items: Iterable[T]) -> Iterator[R]:
        """Yield the results of :meth:`Workers.map_shared`, computed on the cluster.

        Raises:
            NlptxError: the connection to the scheduler is lost, or several workers died while they processed the same
                task.
            OutputError: the data cannot be written to the folder.
        """
        stored = Stored.write(self.folder, "shared", shared)
        for result in self._mapper.map(partial(_do, work, stored, self.folder), items, isolated=True):
            yield result.take()
        stored.remove()


def _do(work: Callable[[Any, T], R], shared: Stored[Any], folder: str, item: T) -> Stored[R]:
    return Stored.write(folder, "result", work(shared.read_once(), item))
