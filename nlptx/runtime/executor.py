"""Workers that tasks are handed to: threads, or processes forked for the purpose."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import wait
from typing import Any, TypeVar

from nlptx.errors import NlptxError

T = TypeVar("T")
R = TypeVar("R")

# What a user, a system or a closed terminal sends to end a program.
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# What this process, if it is a worker, was forked to do.
_work: Callable[[Any], Any]


@contextmanager
def workers(work: Callable[[T], R], jobs: int, *, processes: bool = False) -> Iterator[Callable[[T], Future[R]]]:
    """Yield a function that has a worker do ``work(item)``.

    Processes do not wait for each other, where threads share the interpreter's lock. Forked, they begin at once and
    share what is in memory now; items and results travel through pipes.

    Args:
        work: what is done.
        jobs: workers.
        processes: whether to fork, where the system does so safely. A fork takes along the locks that other threads
            hold, but not the threads, so ``work`` must need none of those.

    Raises:
        NlptxError: a process was ended from outside.
    """
    pool: Executor = ThreadPoolExecutor(jobs)
    task: Callable[..., Any] = work
    try:
        if processes and jobs > 1 and sys.platform == "linux":
            with forking():
                forked = _fork(work, jobs)
                if forked is not None:
                    pool, task = forked, _do
        yield partial(pool.submit, task)
    except BrokenProcessPool as error:
        raise ended_from_outside() from error
    finally:
        pool.shutdown(cancel_futures=True)


def ended_from_outside() -> NlptxError:
    """Return the error of a process that is gone before its time."""
    return NlptxError(
        "a worker process was ended from outside",
        hint="The system does so where memory is short: give --jobs 1, or less text at a time.",
    )


@contextmanager
def forking() -> Iterator[None]:
    """Let signals wait for the end of a block that forks, and Python not warn of it.

    In the middle of a fork the exception that a signal raises would be lost, or would leave processes behind. Python
    3.12 and later warn where there are threads. Those here are the BLAS's, which stops them for a fork, and such as
    hold no lock that the new process needs.
    """
    with signals_held(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        yield


@contextmanager
def signals_held() -> Iterator[None]:
    """Let signals that this thread would take wait for the end of a block; threads started in it take none at all."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _fork(work: Callable[[Any], Any], jobs: int) -> Executor | None:
    """Fork the workers; None where the system has no processes to spare, or no semaphores, which they talk by."""
    try:
        pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _begin, (work,))
    except (ImportError, NotImplementedError, OSError):
        return None
    try:
        pool.submit(os.getpid)  # the first task forks them all
    except OSError:  # no process can be started, or no more: those that were have nobody to tell them to end
        for process in pool._processes.values():
            process.kill()
            process.join()
        return None
    return pool


def _begin(work: Callable[[Any], Any]) -> None:
    """Make a forked process a worker: what to do when is its parent's business, and it ends with it."""
    global _work
    _work = work
    # At its end it would flush these, and wait for ever if another thread was writing there at the fork, as one does
    # that draws a bar. It has nothing to say itself.
    sys.stdout = sys.stderr = None
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup sets it
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPING)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


def _do(item: Any) -> Any:
    return _work(item)
