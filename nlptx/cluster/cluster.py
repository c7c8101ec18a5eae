"""A cluster of worker processes, on this machine or on others, with the interface of a worker pool.

The package dask.distributed manages the processes and the network. It is imported only if a cluster is used.
"""

from __future__ import annotations

import itertools
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nlptx.cluster.connection import LOCAL, check_address, connected, lost_connection, reporting_lost_connection
from nlptx.cluster.worker import Requirements, UnsuitableWorkerError, blas, inspect_worker, run
from nlptx.errors import NlptxError

if TYPE_CHECKING:
    from distributed import Future

T = TypeVar("T")
R = TypeVar("R")

# Maximum time to wait for the first worker, and time between two checks of the connection, in seconds.
_FIRST_WORKER_TIMEOUT, _CHECK_INTERVAL = 30, 5
# Time, in seconds, before workers are asked again if none answered.
_PAUSE = 0.1
# Maximum time, in seconds, to wait for a new local worker after all local workers died. The wait could otherwise be
# endless, because dask.distributed does not restart a worker that dies during its start.
_RESTART_TIMEOUT = 60
# Task numbers, which are part of the task names.
_NUMBERS = itertools.count()


class Cluster:
    """The workers of a cluster. :meth:`map` has the interface of :meth:`nlptx.runtime.workers.Workers.map`.

    If a worker dies, its task is repeated, so a task must produce the same result each time, and must not give a file
    its final name before the file is complete.

    Args:
        address: ``local:N`` for N processes on this machine, or the address of a scheduler, ``tcp://HOST:PORT`` or
            ``tls://HOST:PORT``.
        requirements: properties that every worker must share with this machine.
        on_note: called with notes about the cluster.
        check_stop: called every few seconds while the caller waits for a result; an exception that it raises ends the
            wait.
        per_worker: number of tasks assigned to each worker thread at a time. With two tasks, a thread that
            finishes one of them can start the other at once.

    Raises:
        SettingsError: the address is invalid.
        NlptxError: dask.distributed is not installed, no scheduler answers, there are no workers, or a worker does not
            meet the requirements (raised on entering the ``with`` block).
    """

    def __init__(
        self,
        address: str,
        requirements: Requirements,
        on_note: Callable[[str], None],
        check_stop: Callable[[], None] = lambda: None,
        per_worker: int = 2,
    ) -> None:
        check_address(address)
        self._check_stop = check_stop
        self._per_worker = per_worker
        self.address = address
        self._requirements = requirements
        self._on_note = on_note
        self._stack = ExitStack()
        self._unsuitable: set[str] = set()
        self._client: Any = None  # the type is Any, because the client's methods have no type annotations
        self._pending: deque[tuple[Any, Future]] = deque()
        self._threads: dict[str, int] = {}  # address of each suitable worker -> number of its threads
        self._counted_at = 0.0

    def __enter__(self) -> Self:
        try:
            self._client = self._stack.enter_context(connected(self.address, self._on_note))
            self._check_workers()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            self._cancel()
        finally:
            self._stack.close()

    def _check_workers(self) -> None:
        """Wait for the first worker, then check all connected workers."""
        answers: dict[str, tuple[UnsuitableWorkerError | None, str]] = {}
        deadline = time.monotonic() + _FIRST_WORKER_TIMEOUT
        # The scheduler may still list workers that have just ended. They do not answer, so the wait begins again.
        while not answers and (left := deadline - time.monotonic()) > 0:
            with suppress(TimeoutError):
                self._client.wait_for_workers(1, timeout=left)
            answers = self._inspect_workers()
            if not answers:
                time.sleep(_PAUSE)
        if not answers:
            raise NlptxError(
                f"the scheduler at {self.address} has no workers",
                hint=f"Start one on each machine: dask worker {self.address}",
            )
        for error, _ in answers.values():
            if error is not None:
                raise error
        kinds = {blas(), *(kind for _, kind in answers.values())}
        if len(kinds) > 1:
            self._on_note(
                "the workers have different processors or BLAS libraries, so the last digits of scores may differ"
                f" from those of a single machine: {'; '.join(sorted(kinds))}"
            )

    def _inspect_workers(self) -> dict[str, tuple[UnsuitableWorkerError | None, str]]:
        """Return address of a worker -> (reason why the worker is unsuitable, or None; its BLAS libraries)."""
        with reporting_lost_connection(self.address):
            answers = self._client.run(inspect_worker, self._requirements, on_error="return")
        # For a worker that ends before it answers, `run` returns a connection error (an OSError), which is skipped.
        return {
            worker: (_cannot_run(worker, answer), "") if isinstance(answer, Exception) else answer
            for worker, answer in answers.items()
            if not isinstance(answer, OSError)
        }

    def map(self, work: Callable[[T], R], items: Iterable[T], *, isolated: bool = True) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in order.

        Args:
            work: a function at the top level of a module, or a ``functools.partial`` of such a function. The
                arguments and results of the function are sent through the scheduler, so they should be small.
            items: inputs of the tasks. Error messages name an item by ``str(item)``.
            isolated: has no effect, because the work never shares memory with the caller.

        Raises:
            NlptxError: the connection to the scheduler is lost, or several workers died while they processed the same
                task.
        """
        waiting = self._pending
        try:
            for item in items:
                waiting.append((item, self._submit(work, item)))
                while len(waiting) >= self._limit():
                    yield self._next(work)
            while waiting:
                yield self._next(work)
        finally:
            self._cancel()

    def _cancel(self) -> None:
        if self._pending:
            with suppress(Exception):  # the connection to the scheduler may be lost
                self._client.cancel([future for _, future in self._pending])
            self._pending.clear()

    def _next(self, work: Callable[[T], R]) -> R:
        item, future = self._pending[0]
        result: R = self._result(work, item, future)
        self._pending.popleft()
        return result

    def _limit(self) -> int:
        """Return the maximum number of unfinished tasks at a time; this number changes when workers join or leave."""
        if time.monotonic() - self._counted_at > _CHECK_INTERVAL:
            self._count_threads()
        return self._per_worker * max(1, sum(self._threads.values()))

    def _count_threads(self) -> None:
        with reporting_lost_connection(self.address):
            self._threads = {
                worker: count for worker, count in self._client.nthreads().items() if worker not in self._unsuitable
            }
        self._counted_at = time.monotonic()

    def _submit(self, work: Callable[[T], R], item: T) -> Future:
        # With ``workers=None``, workers that join later can also take the task.
        allowed = list(self._threads) if self._unsuitable else None
        key = f"{getattr(work, '__name__', 'task')}-{next(_NUMBERS)}-{os.urandom(8).hex()}"
        with reporting_lost_connection(self.address):
            future: Future = self._client.submit(
                run, self._requirements, work, item, key=key, pure=False, workers=allowed
            )
        return future

    def _result(self, work: Callable[[T], R], item: T, future: Future) -> R:
        from distributed import KilledWorker

        last_seen, warned = time.monotonic(), False
        while True:
            self._check_stop()
            try:
                with reporting_lost_connection(self.address):
                    result: R = future.result(timeout=_CHECK_INTERVAL)
                return result
            except TimeoutError:
                if self._client.status != "running":
                    raise lost_connection(self.address) from None
                error = future.exception() if future.status == "error" else None  # type: ignore[no-untyped-call]
                if isinstance(error, TimeoutError):
                    raise  # the task raised this error, for example because a network file system did not answer
                self._count_threads()
                if self._threads:
                    last_seen = time.monotonic()
                elif self.address.startswith(LOCAL) and time.monotonic() - last_seen > _RESTART_TIMEOUT:
                    raise NlptxError(
                        "all local workers died, and none could be started again",
                        hint="The workers may have run out of memory: use fewer workers, or a lower `memory`.",
                    ) from None
                elif not warned:
                    self._on_note("no worker is connected; waiting for one")
                    warned = True
            except UnsuitableWorkerError as error:
                # The unsuitable worker that got this task joined after the check of all workers. Assign the task again.
                self._refuse(error)
                future = self._submit(work, item)
            except KilledWorker:
                raise NlptxError(
                    "the workers that processed this part of the input died, one after the other",
                    where=str(item),
                    hint="They may have run out of memory: use fewer workers per machine, or a lower `memory`.",
                ) from None

    def _refuse(self, error: UnsuitableWorkerError) -> None:
        unsuitable = {worker for worker, (reason, _) in self._inspect_workers().items() if reason is not None}
        if not unsuitable - self._unsuitable:
            return
        self._unsuitable |= unsuitable
        self._on_note(f"{error.where or self.address}: {error.message}; this worker gets no tasks")
        self._count_threads()
        if not self._threads:
            raise NlptxError(error.message, where=error.where, hint=error.hint)


def _cannot_run(worker: str, error: Exception) -> UnsuitableWorkerError:
    """Return the error for a worker on which nlptx is not installed, or cannot be imported."""
    return UnsuitableWorkerError(
        f"the worker at {worker} cannot run nlptx: {error}",
        hint="Install the same versions of nlptx, Python, NumPy and SciPy on all machines.",
    )
