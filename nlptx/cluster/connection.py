"""Connects to a cluster of dask.distributed, which is imported only when a cluster is used."""

from __future__ import annotations

import importlib
import logging
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any

from nlptx.errors import NlptxError, SettingsError
from nlptx.runtime.blas import ONE_THREAD

LOCAL = "local:"
# Address of a scheduler. An IPv6 address is in brackets.
_SCHEDULER = re.compile(r"(tcp|tls)://(\[[^][\s]+\]|[^][\s:/?#]+):(?P<port>[0-9]{1,5})")
# Number of seconds to wait for the scheduler to answer.
_TIMEOUT = 10
# Environment variables for local workers. The variables limit the BLAS to one thread, and make the C library return
# freed memory to the system immediately. They have an effect only if they are set before a worker starts.
_WORKER_ENVIRONMENT = {**ONE_THREAD, "MALLOC_TRIM_THRESHOLD_": "65536"}


@contextmanager
def connected(address: str, on_note: Callable[[str], None]) -> Iterator[Any]:
    """Connect to a scheduler, or start local workers.

    At the end of the ``with`` block, the connection is closed, or the workers are stopped.

    Args:
        address: address of the cluster, in a form that :func:`check_address` accepts.
        on_note: called with a note that contains the address of the scheduler's dashboard, if there is one. For local
            workers, there is no note.

    Yields:
        A ``distributed.Client``; its methods have no type annotations.

    Raises:
        NlptxError: dask.distributed is not installed, no scheduler answers, or the local workers do not start.
    """
    try:
        # The type is Any, because the functions of the module have no type annotations.
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise NlptxError("a cluster needs dask.distributed", hint="pip install 'nlptx[cluster]'") from None
    except ValueError as error:
        hint = "Mend the file, or name a folder with other settings: DASK_CONFIG=FOLDER."
        raise NlptxError(f"the configuration of dask cannot be read: {error}", hint=hint) from error
    import dask

    _silence_logs()
    with ExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.comm.timeouts.connect": f"{_TIMEOUT}s"}))
        if address.startswith(LOCAL):
            stack.enter_context(dask.config.set({"distributed.nanny.pre-spawn-environ": _WORKER_ENVIRONMENT}))
            try:
                with _signals_blocked():
                    cluster = distributed.LocalCluster(
                        n_workers=int(address.removeprefix(LOCAL)),
                        threads_per_worker=1,
                        host="127.0.0.1",
                        dashboard_address="127.0.0.1:0",
                        silence_logs=logging.CRITICAL,
                    )
            except RuntimeError as error:  # a worker process was killed during its start
                reason = str(error).rstrip(".")
                hint = "Run the command again, or with fewer workers; or raise the limit of open files (ulimit -n)."
                raise NlptxError(f"the local workers did not start ({reason})", hint=hint) from None
            yield stack.enter_context(distributed.Client(stack.enter_context(cluster)))
            return
        try:
            client = stack.enter_context(distributed.Client(address, timeout=_TIMEOUT))
        except TypeError as error:
            hint = "Set distributed.comm.tls in the configuration of dask."
            raise NlptxError(f"no connection to {address}: {error}", hint=hint) from None
        except (OSError, TimeoutError) as error:
            raise NlptxError(
                f"no scheduler answers at {address} ({error})", hint="Start one with: dask scheduler"
            ) from None
        if client.dashboard_link:
            on_note(f"dashboard of the cluster: {client.dashboard_link}")
        yield client


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block the signals of Ctrl-C and of a closed terminal, and deliver them at the end of the ``with`` block.

    Threads and processes that are started in the block never receive these signals. If a signal reached a worker
    process while it starts, the process would print a traceback. This process stops the workers instead.
    """
    signals = signal.SIGINT, signal.SIGHUP
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        # The workers need this helper process, which would print a warning if this process is stopped by a signal. The
        # start of the helper process unblocks SIGINT, so SIGINT is blocked again.
        with _environment("PYTHONWARNINGS", "ignore"):
            resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable during the ``with`` block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def check_address(address: str) -> None:
    """Raise SettingsError unless ``address`` is ``local:N`` or the address of a scheduler."""
    count = address.removeprefix(LOCAL)
    if address.startswith(LOCAL):
        if not count.isdecimal() or not 1 <= int(count) <= 1024:
            raise SettingsError(f"`cluster` is {address!r}; expected local:N with N from 1 to 1024")
    elif not (parts := _SCHEDULER.fullmatch(address)) or not 1 <= int(parts["port"]) <= 65_535:
        raise SettingsError(f"`cluster` is {address!r}; expected local:N, tcp://HOST:PORT or tls://HOST:PORT")


@contextmanager
def reporting_lost_connection(address: str) -> Iterator[None]:
    """If the connection is lost in the ``with`` block, convert the resulting errors to an NlptxError."""
    from concurrent.futures import CancelledError

    try:
        yield
    except TimeoutError:
        raise
    except (CancelledError, OSError) as error:
        # The communication errors of dask.distributed are subclasses of OSError. Any other OSError, such as one that a
        # task raised, is passed on.
        if isinstance(error, OSError) and not type(error).__module__.startswith("distributed"):
            raise
        raise lost_connection(address) from None


def _silence_logs() -> None:
    """Turn off the logs of dask.distributed and its event loop, because failures are reported as exceptions."""
    for name in logging.root.manager.loggerDict:
        if name.startswith(("asyncio", "distributed", "tornado")):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def lost_connection(address: str) -> NlptxError:
    """Return the error for a lost connection."""
    return NlptxError(f"the connection to the scheduler at {address} is lost", hint="Run the command again.")
