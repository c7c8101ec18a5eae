"""Forked processes that work on items from their parent, and their reaction to termination signals.

Only the parent handles termination signals, because it decides what to finish and save; the child processes ignore
them. When the parent ends, for whatever reason, the pipes through which the children receive items are closed, so the
children end too.
"""

from __future__ import annotations

import gc
import io
import os
import pickle
import signal
import stat
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, BinaryIO, NoReturn
from weakref import WeakSet

from nlptx.errors import NlptxError
from nlptx.runtime.signals import STOP_SIGNALS, signals_held

_OPEN_FILES = "/proc/self/fd"
_harmless: WeakSet[threading.Thread] = WeakSet()


class Process:
    """A forked process that calls ``work`` on one item after another.

    The process has a copy of the memory that its parent had at the time of the fork. Items and results are sent through
    pipes.

    Args:
        work: function to call on each item.

    Raises:
        OSError: the system cannot create another process or pipe.
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
        """Send an item to the process. Return a function that waits for the result.

        Raises:
            NlptxError: the process was killed. The returned function also raises NlptxError, and any error that
                ``work`` raised.
        """
        try:
            _send(self._items, item)
        except OSError as error:
            raise _killed() from error
        return self._receive

    def _receive(self) -> Any:
        try:
            result, error = pickle.load(self._results)
        except (EOFError, OSError, pickle.UnpicklingError) as cause:
            raise _killed() from cause
        if error is not None:
            raise error
        return result

    def kill(self) -> None:
        """Kill the process, which needs no clean-up. Threads that wait for a result get an NlptxError."""
        with suppress(ChildProcessError):  # if SIGCHLD is ignored, waiting for an ended process fails
            if os.waitpid(self._pid, os.WNOHANG) == (0, 0):
                os.kill(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
        with suppress(OSError):  # closing a pipe writes the rest of an item, which fails if the process has ended
            self._pipes.close()


def is_only_thread() -> bool:
    """Return whether the caller is the only thread of this program that runs Python, so that forking is safe.

    A fork copies the locks that other threads hold, but not the threads themselves. A child process could therefore
    wait forever for a lock, for example the lock of a module import, a logger or a library. Notebooks always have other
    threads. Threads outside Python do not matter here: the C library prepares its memory for a fork, OpenBLAS stops its
    threads before a fork and starts them again afterwards, and the child processes use one BLAS thread and no OpenMP.
    Threads that were started in a :func:`harmless_threads` block do not matter either.
    """
    return len(sys._current_frames().keys() - {thread.ident for thread in _harmless if thread.is_alive()}) == 1


@contextmanager
def harmless_threads() -> Iterator[None]:
    """A block that starts threads whose locks forked processes do not need, such as a thread that draws a bar.

    Such a thread may hold the lock of sys.stderr, so forked processes replace sys.stderr.
    """
    before = set(threading.enumerate())
    yield
    _harmless.update(set(threading.enumerate()) - before)


@contextmanager
def forked(functions: Sequence[Callable[[Any], Any]]) -> Iterator[list[Process]]:
    """Start a forked process per function, or none if the system cannot fork; end them when the ``with`` block ends."""
    processes: list[Process] = []
    if not functions:  # warnings.catch_warnings changes the filters of all threads, so it must be avoided
        yield processes
        return
    try:
        # Signals are delayed because an exception raised by a signal handler during a fork would be lost. Python 3.12
        # and later warn about forking a process with threads. Forking is safe here: the BLAS stops its threads
        # before a fork, and the other threads of this program hold no lock that the work needs.
        with signals_held(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
            try:
                for function in functions if sys.platform == "linux" and os.path.isdir(_OPEN_FILES) else ():
                    processes.append(Process(function))
            except OSError:
                _end(processes)
        yield processes
    finally:
        _end(processes)


def _end(processes: list[Process]) -> None:
    while processes:
        processes.pop().kill()


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reading, writing = os.pipe()
    return open(reading, "rb"), open(writing, "wb")


def _send(pipe: BinaryIO, message: Any) -> None:
    pipe.write(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
    pipe.flush()


def _killed() -> NlptxError:
    return NlptxError(
        "a worker process was killed",
        hint="The system kills processes when memory is short. Process less text at a time, or use fewer `jobs`.",
    )


def _serve(work: Callable[[Any], Any], items: BinaryIO, results: BinaryIO) -> NoReturn:
    """Process items until the parent closes the pipe."""
    try:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        _reopen_stderr()
        _close_all_but(0, 1, 2, items.fileno(), results.fileno())
        gc.freeze()  # prevents garbage collection from writing to inherited memory, which would then be copied
        while True:
            _answer(work, pickle.load(items), results)
    finally:
        os._exit(0)  # exits without flushing or closing the parent's files


def _reopen_stderr() -> None:
    """Replace sys.stderr, whose lock another thread may have held at the time of the fork, by a new object."""
    with suppress(OSError):  # standard error is closed
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), errors="backslashreplace", write_through=True)


def _answer(work: Callable[[Any], Any], item: Any, results: BinaryIO) -> None:
    try:
        _send(results, (work(item), None))
    except Exception as error:  # the parent raises the error
        _send(results, (None, _picklable(error)))


def _picklable(error: Exception) -> Exception:
    """Return the error itself or, if it cannot be pickled, an NlptxError with the same message."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return NlptxError(f"{type(error).__name__}: {error}")
    return error


def _close_all_but(*kept: int) -> None:
    """Close inherited files, because other processes may wait until all copies of a pipe or lock are closed.

    Temporary files without a name stay open, because the work may read from them.
    """
    for descriptor in set(map(int, os.listdir(_OPEN_FILES))).difference(kept):
        with suppress(OSError):  # the descriptor that listdir used is already closed
            if not _is_unnamed_file(descriptor):
                os.close(descriptor)


def _is_unnamed_file(descriptor: int) -> bool:
    status = os.fstat(descriptor)
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 0
