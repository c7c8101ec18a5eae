"""A pool of workers whose method ``map_shared`` runs on a cluster; its other methods run on this machine."""

from __future__ import annotations

import os
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
    """The workers of this machine and of a cluster.

    Only :meth:`map_shared` uses the cluster. The shared data and the results are exchanged through files.

    Args:
        jobs: number of workers on this machine; None for one per core.
        mapper: the cluster.
        folder: absolute path of a folder that all workers of the cluster can access, for the exchanged files.
    """

    def __init__(self, jobs: int | None, mapper: Mapper, folder: str) -> None:
        super().__init__(jobs, processes=True)
        self.folder = folder
        self._mapper = mapper

    def store(self, value: T) -> Callable[[], T]:
        """Write a value to a file, and return a function that reads it. Raises OutputError if writing fails."""
        return Stored.write(self.folder, "stored", value).read

    def map_shared(
        self, work: Callable[[S, T], R], shared: S, items: Iterable[T], *, threads_only: bool = False
    ) -> Iterator[R]:
        """Do the same as :meth:`Workers.map_shared`, but on the cluster.

        Raises:
            NlptxError: the connection to the scheduler is lost, or several workers died while they processed the same
                task.
            OutputError: the shared data or a result cannot be written.
        """
        stored = Stored.write(self.folder, "shared", shared)
        for result in self._mapper.map(partial(_run_stored, work, stored, self.folder), items, isolated=True):
            yield result.take()
        stored.remove()


def _run_stored(work: Callable[[Any, T], R], shared: Stored[Any], folder: str, item: T) -> Stored[R]:
    # The name is random, because tasks with equal results must not share a file: a file is removed as soon as it is
    # read.
    return Stored.write(folder, f"result-{os.urandom(8).hex()}", work(shared.read_cached(), item))
