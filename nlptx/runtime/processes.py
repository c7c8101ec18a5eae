"""Forked processes that do what they are sent, and what the signals that stop a program mean to them.

Signals are the business of the parent alone: it decides what to finish and what to keep, so its processes ignore them.
They end with it, however it ends, because then nobody can send them anything more.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, BinaryIO, NoReturn

from nlptx.errors import NlptxError

# What a user, the system or a terminal that is closed sends to end a program.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_OPEN_FILES = "/proc/self/fd"


class Process:
    """A forked process that does ``work`` on one item after the other.

    It has the memory of its parent as it was at the fork. Items and results travel through pipes.

    Args:
        work: function of an item.

    Raises:
        OSError: the system has no process or no pipe left.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        with ExitStack() as pipes:
            items, self._items = map(pipes.enter_context, _pipe())
            self._results, results = map(pipes.enter_context, _pipe())
            self._pid = os.fork()
            if self._pid == 0:
                _serve(work, items, results)
            items.close()
            results.close()
            self._pipes = pipes.pop_all()

    def start(self, item: Any) -> Callable[[], Any]:
        """Send an item; return a function that waits for the result and returns it.

        Raises:
            NlptxError: the process was killed; so does the function, or else what ``work`` raises.
        """
        try:
            _send(self._items, item)
        except OSError as error:
            raise _killed() from error
        return self._receive

    def _receive(self) -> Any:
        try:
            result, error = pickle.load(self._results)
        except (EOFError, OSError, pickle.UnpicklingError) as gone:
            raise _killed() from gone
        if error is not None:
            raise error
        return result

    def end(self) -> None:
        """Kill the process, whatever it does: it has nothing to put in order. Threads that wait for it are told."""
        with suppress(ChildProcessError):  # where SIGCHLD is ignored, the end of a process leaves no trace
            if os.waitpid(self._pid, os.WNOHANG) == (0, 0):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
        with suppress(OSError):  # an item that could not be sent
            self._pipes.close()


@contextmanager
def forked(works: Sequence[Callable[[Any], Any]]) -> Iterator[list[Process]]:
    """Yield a process for each of some functions, or none where the system cannot fork; end them with the block."""
    processes: list[Process] = []
    try:
        # The exception of a signal would be lost within a fork. Python 3.12 and later warn where there are threads;
        # those of the BLAS are stopped for a fork, and others must hold no lock that the work needs.
        with signals_held(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            try:
                for work in works if sys.platform == "linux" and os.path.isdir(_OPEN_FILES) else ():
                    processes.append(Process(work))
            except OSError:
                _end(processes)
        yield processes
    finally:
        _end(processes)


@contextmanager
def signals_held() -> Iterator[None]:
    """Let stop signals wait for the end of a block. Threads that are started in it never take one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(processes: list[Process]) -> None:
    while processes:
        processes.pop().end()


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reading, writing = os.pipe()
    return open(reading, "rb"), open(writing, "wb")


def _send(pipe: BinaryIO, message: Any) -> None:
    pipe.write(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    pipe.flush()


def _killed() -> NlptxError:
    return NlptxError(
        "a worker process was killed",
        hint="The system does so when memory is short: give `jobs=1`, or less text at a time.",
    )


def _serve(work: Callable[[Any], Any], items: BinaryIO, results: BinaryIO) -> NoReturn:
    """Do what is sent, until nobody can send anything more."""
    try:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        _close_all_but(0, 1, 2, items.fileno(), results.fileno())
        gc.freeze()  # looking through the objects of the parent would copy them
        while True:
            _answer(work, pickle.load(items), results)
    finally:
        os._exit(0)  # without flushing or closing anything of the parent's


def _answer(work: Callable[[Any], Any], item: Any, results: BinaryIO) -> None:
    try:
        _send(results, (work(item), None))
    except Exception as error:  # raised in the parent
        _send(results, (None, error))


def _close_all_but(*kept: int) -> None:
    """Close what was open at the fork: others wait for the last copy of a pipe's end, or of a lock, to be closed."""
    for descriptor in set(map(int, os.listdir(_OPEN_FILES))).difference(kept):
        with suppress(OSError):  # the one of the list itself
            os.close(descriptor)
