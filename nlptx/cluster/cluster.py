"""A cluster of worker processes, on this machine or on others, with the interface of a pool of workers.

dask.distributed manages the processes and the network. It is imported only if a cluster is used.
"""

from __future__ import annotations

import itertools
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from nlptx.cluster.worker import Requirements, UnsuitableWorkerError, blas, facts, run
from nlptx.errors import NlptxError, SettingsError
from nlptx.runtime.blas import ONE_THREAD

if TYPE_CHECKING:
    from distributed import Future

T = TypeVar("T")
R = TypeVar("R")

LOCAL = "local:"
_PROTOCOLS = ("tcp://", "tls://")
# Number of tasks assigned to each worker in advance, so that it never waits for the next one; and the minimum for all
# workers together.
_PER_WORKER = 2
# In seconds: maximum time to reach the scheduler, maximum time to wait for the first worker, and interval at which the
# workers are checked.
_CONNECT, _FIRST_WORKER, _LOOK = 10, 30, 5
# Makes a worker return freed memory to the system at once. It must be set before the process of the worker starts.
_WORKER_ENVIRONMENT = {**ONE_THREAD, "MALLOC_TRIM_THRESHOLD_": "65536"}


class Cluster:
    """The workers of a cluster. :meth:`map` works like the method of :class:`nlptx.runtime.workers.Workers`.

    If a worker dies, its task is repeated. So a task must give the same result each time, and must not give a file its
    final name before the file is complete.

    Args:
        address: ``local:N`` for N processes on this machine, or ``tcp://HOST:PORT`` or ``tls://HOST:PORT`` of a
            scheduler.
        requirements: properties that every worker must share with this machine.
        on_note: called with notes about the cluster.

    Raises:
        SettingsError: the address is invalid, or dask.distributed is not installed.
        NlptxError: no scheduler answers at the address, there are no workers, or no worker is suitable.
    """

    def __init__(self, address: str, requirements: Requirements, on_note: Callable[[str], None]) -> None:
        check_address(address)
        self.address = address
        self._requirements = requirements
        self._on_note = on_note
        self._stack = ExitStack()
        self._unsuitable: set[str] = set()
        self._client: Any = None  # Any, because its methods have no type annotations
        self._pending: deque[tuple[Any, Future]] = deque()
        self._looked = 0.0
        self._threads: dict[str, int] = {}

    def __enter__(self) -> Self:
        try:
            import distributed
        except ImportError:
            raise SettingsError(
                "a cluster needs the package distributed", hint="pip install 'nlptx[cluster]'"
            ) from None
        import dask

        _silence_logs()
        self._stack.enter_context(dask.config.set({"distributed.comm.timeouts.connect": f"{_CONNECT}s"}))
        try:
            self._client = self._connect(distributed)
            self._check_workers()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        try:
            with suppress(Exception):  # the connection may be lost
                self._client.cancel([future for _, future in self._pending])
        finally:
            self._stack.close()

    def _connect(self, distributed: Any) -> Any:
        import dask

        if self.address.startswith(LOCAL):
            count = int(self.address.removeprefix(LOCAL))
            self._stack.enter_context(dask.config.set({"distributed.nanny.pre-spawn-environ": _WORKER_ENVIRONMENT}))
            cluster = self._stack.enter_context(
                distributed.LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                )
            )
            return self._stack.enter_context(distributed.Client(cluster))
        try:
            client = self._stack.enter_context(distributed.Client(self.address, timeout=_CONNECT))
        except (OSError, TimeoutError) as error:
            raise NlptxError(
                f"no scheduler answers at {self.address} ({error})",
                hint="Start one with: dask scheduler",
            ) from None
        if client.dashboard_link:
            self._on_note(f"dashboard of the cluster: {client.dashboard_link}")
        return client

    def _check_workers(self) -> None:
        """Wait for the first worker, then check all connected workers."""
        with suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=_FIRST_WORKER)
        found = self._facts()
        if not found:
            raise NlptxError(
                f"the scheduler at {self.address} has no workers",
                hint=f"Start one on each machine: dask worker {self.address}",
            )
        for reason, _ in found.values():
            if reason is not None:
                raise NlptxError(reason)
        kinds = {blas(), *(kind for _, kind in found.values())}
        if len(kinds) > 1:
            self._on_note(
                "note: the workers have different processors or BLAS libraries, so the last digits of scores may differ"
                f" from those of a single machine: {'; '.join(sorted(kinds))}"
            )

    def _facts(self) -> dict[str, tuple[str | None, str]]:
        """Return, for each worker, why it is unsuitable (None if it is not), and its BLAS."""
        with _loss_reported(self.address):
            answers = self._client.run(facts, self._requirements, on_error="return")
        # A worker that ends meanwhile answers with an error of the connection.
        return {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}

    def map(self, work: Callable[[T], R], items: Iterable[T], *, isolated: bool = True) -> Iterator[R]:
        """Yield ``work(item)`` for each item, in order.

        Args:
            work: a function at the top level of a module, or a partial of one. Its arguments and results are sent
                through the scheduler, so they should be small.
            items: items. Messages name an item by ``str(item)``.
            isolated: has no effect, because the work never shares memory with the caller.

        Raises:
            NlptxError: the connection to the scheduler is lost, or several workers died while they did the same task.
        """
        waiting = self._pending
        for item in items:
            waiting.append((item, self._submit(work, item)))
            while len(waiting) > self._limit():
                yield self._next(work)
        while waiting:
            yield self._next(work)

    def _next(self, work: Callable[[T], R]) -> R:
        item, future = self._pending[0]
        result: R = self._result(work, item, future)
        self._pending.popleft()
        return result

    def _limit(self) -> int:
        """Return the maximum number of tasks to assign at a time. It changes, because workers may join or leave."""
        if time.monotonic() - self._looked > _LOOK:
            self._look()
        return _PER_WORKER * max(1, sum(self._threads.values()))

    def _look(self) -> None:
        with _loss_reported(self.address):
            self._threads = {
                worker: count for worker, count in self._client.nthreads().items() if worker not in self._unsuitable
            }
        self._looked = time.monotonic()

    def _submit(self, work: Callable[[T], R], item: T) -> Future:
        # Without restrictions, a worker that joins later can do the task too.
        allowed = list(self._threads) if self._unsuitable else None
        key = f"{getattr(work, '__name__', 'task')}-{next(_NUMBERS)}-{os.urandom(8).hex()}"
        with _loss_reported(self.address):
            future: Future = self._client.submit(
                run, self._requirements, work, item, key=key, pure=False, workers=allowed
            )
        return future

    def _result(self, work: Callable[[T], R], item: T, future: Future) -> R:
        from distributed import KilledWorker

        warned = False
        while True:
            try:
                with _loss_reported(self.address):
                    result: R = future.result(timeout=_LOOK)
                return result
            except TimeoutError:
                if self._client.status != "running":
                    raise _lost(self.address) from None
                self._look()
                if not self._threads and not warned:
                    self._on_note("no worker is connected; waiting for one")
                    warned = True
            except UnsuitableWorkerError as error:
                # The worker joined later. Its task is assigned to another worker.
                self._refuse(error)
                future = self._submit(work, item)
            except KilledWorker:
                raise NlptxError(
                    "the workers that processed this part of the input died, one after the other",
                    where=str(item),
                    hint="They may need more memory: give fewer workers per machine, or a lower `memory`.",
                ) from None

    def _refuse(self, error: UnsuitableWorkerError) -> None:
        unsuitable = {worker for worker, (reason, _) in self._facts().items() if reason is not None}
        if not unsuitable - self._unsuitable:
            return
        self._unsuitable |= unsuitable
        self._on_note(f"note: {error.where or self.address}: {error.message}; it gets no tasks")
        self._look()
        if not self._threads:
            raise NlptxError(error.message, where=error.where, hint=error.hint)


_NUMBERS = itertools.count()


@contextmanager
def _loss_reported(address: str) -> Iterator[None]:
    """Convert the errors of a lost connection in the ``with`` block to an NlptxError."""
    from concurrent.futures import CancelledError

    try:
        yield
    except TimeoutError:
        raise
    except (CancelledError, OSError) as error:
        # The communication errors of dask.distributed are subclasses of OSError, but tasks may raise an OSError too.
        if isinstance(error, OSError) and not type(error).__module__.startswith("distributed"):
            raise
        raise _lost(address) from None


def _silence_logs() -> None:
    """Silence dask.distributed, because failures are reported as exceptions. Its loggers have levels of their own."""
    for name in logging.root.manager.loggerDict:
        if name.startswith(("distributed", "tornado")):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _lost(address: str) -> NlptxError:
    return NlptxError(
        f"the connection to the scheduler at {address} is lost; nothing was written", hint="Run the command again."
    )


def check_address(address: str) -> None:
    """Raise SettingsError unless ``address`` is ``local:N`` or the address of a scheduler."""
    count = address.removeprefix(LOCAL)
    if address.startswith(LOCAL):
        if not count.isdecimal() or not 1 <= int(count) <= 1024:
            raise SettingsError(f"`cluster` is {address!r}; expected local:N, where N is a number of processes")
    elif not address.startswith(_PROTOCOLS) or ":" not in address.split("://", 1)[1]:
        raise SettingsError(f"`cluster` is {address!r}; expected local:N, tcp://HOST:PORT or tls://HOST:PORT")
