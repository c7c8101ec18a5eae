"""A crew: this process and some helpers, who do their parts of one task after another at the same time.

Unlike :mod:`nlptx.runtime.executor`, where any worker takes the next item, all members get every task, and know their
part of it by their number. A round trip through pipes takes a tenth of a millisecond, so parts of some milliseconds
are worth it.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection, Pipe
from typing import Any, NamedTuple, NoReturn, TypeVar

from nlptx.errors import NlptxError
from nlptx.runtime.executor import STOPPING, ended_from_outside, forking

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def crew(work: Callable[[T, int], R], members: int, *, processes: bool = False) -> Iterator[Callable[[T], list[R]]]:
    """Yield a function that has every member do ``work(task, member)``, and returns what they return, in order.

    Forked processes do not wait for each other, where threads share the interpreter's lock. They share what is in
    memory now, and later what is in arrays of :mod:`nlptx.runtime.shared_memory`: of any other that this process
    changes, they go on seeing what it was. Tasks and results travel through pipes.

    Args:
        work: what is done; ``member`` counts from 0, which is this process or thread.
        members: how many there are.
        processes: whether to fork helpers, where the system does so safely; else they are threads. What a forked
            process does must not need a lock that another thread of this program may hold.

    Raises:
        NlptxError: a helper cannot be started, or was ended from outside.
    """
    with ExitStack() as stack:
        if members > 1 and processes and sys.platform == "linux":
            helpers = [stack.enter_context(_helper(work, member)) for member in range(1, members)]

            def together(task: T) -> list[R]:
                for helper in helpers:
                    helper.send(task)
                outcomes = [_attempt(work, task, 0), *(helper.receive() for helper in helpers)]
                for _, error in outcomes:
                    if error is not None:
                        raise error
                return [result for result, _ in outcomes]

        else:
            pool = stack.enter_context(ThreadPoolExecutor(max(1, members - 1)))

            def together(task: T) -> list[R]:
                others = [pool.submit(work, task, member) for member in range(1, members)]
                return [work(task, 0), *(other.result() for other in others)]

        yield together


# What came of a task: a result, or an error.
_Outcome = tuple[Any, Exception | None]


def _attempt(work: Callable[[T, int], R], task: T, member: int) -> _Outcome:
    try:
        return work(task, member), None
    except Exception as error:  # told once everybody has answered
        return None, error


class _Helper(NamedTuple):
    """A parent's ends of the pipes to a helper and from it."""

    tasks: Connection
    answers: Connection

    def send(self, task: Any) -> None:
        try:
            self.tasks.send(task)
        except ConnectionError as error:
            raise ended_from_outside() from error

    def receive(self) -> _Outcome:
        try:
            outcome: _Outcome = self.answers.recv()
        except (EOFError, ConnectionError) as error:
            raise ended_from_outside() from error
        return outcome


@contextmanager
def _helper(work: Callable[[T, int], R], member: int) -> Iterator[_Helper]:
    """Fork a process that does its part of each task it is sent, until nobody can send it any more."""
    their_tasks, tasks = Pipe(duplex=False)
    answers, their_answers = Pipe(duplex=False)
    pid = 0
    try:
        with forking():
            try:
                pid = os.fork()
            except OSError as error:
                raise NlptxError(f"no process can be started: {error.strerror}", hint="Give --jobs 1.") from error
            if pid == 0:
                _serve(their_tasks, their_answers, work, member)
        their_tasks.close()
        their_answers.close()
        yield _Helper(tasks, answers)
    finally:
        for end in (tasks, answers, their_tasks, their_answers):
            end.close()
        if pid:
            with suppress(ChildProcessError):  # where SIGCHLD is ignored, the system does not tell
                os.waitpid(pid, 0)


def _serve(tasks: Connection, answers: Connection, work: Callable[[T, int], R], member: int) -> NoReturn:
    """Be a helper. What signals mean is for the parent to say, and with it the helper ends."""
    try:
        for number in STOPPING:
            signal.signal(number, signal.SIG_IGN)
        _close_all_but(0, 1, 2, tasks.fileno(), answers.fileno())
        gc.freeze()  # to look through what the parent made would copy it
        while True:
            answers.send(_attempt(work, tasks.recv(), member))
    finally:
        os._exit(0)  # nothing that the parent has open is this process's to close


def _close_all_but(*kept: int) -> None:
    """Close what was open at the fork: others wait for the last copy of a pipe's end, or of a lock, to be closed."""
    for descriptor in set(map(int, os.listdir("/proc/self/fd"))).difference(kept):
        with suppress(OSError):  # that of the list itself
            os.close(descriptor)
