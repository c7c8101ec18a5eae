"""Limits every BLAS to one thread as long as any thread of this process needs this limit.

The number of BLAS threads is a setting of the process, not of a thread. So if several threads limit it at the same
time, the original number must not be restored until the last of them has finished. threadpoolctl does not support
overlapping limits of different threads: it ignores them from version 3.8 on, and earlier versions mix them up.
Therefore, this module counts the users of the limit.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


class _Limit:
    """Counts the open ``with`` blocks that need the limit.

    Attributes:
        lock: lock for the other attributes. A thread that holds it can acquire it again, because the garbage collector
            may end the block of a suspended generator at any time.
        users: number of open blocks of each thread, by thread identifier.
        before: number of threads of each BLAS before the first block, by the path of the library.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users: dict[int, int] = {}
        self.before: dict[str, int] = {}

    def enter(self) -> None:
        is_first = not self.users
        thread = threading.get_ident()
        self.users[thread] = self.users.get(thread, 0) + 1
        for library in _libraries():
            count = library.num_threads
            # A library may have one thread because the end of an earlier block was interrupted before the original
            # number was restored. In that case, the number that was saved before that block is kept.
            if library.filepath not in self.before or (is_first and count != 1):
                self.before[library.filepath] = count
            library.set_num_threads(1)

    def leave(self) -> None:
        thread = threading.get_ident()
        self.users[thread] = self.users.get(thread, 1) - 1
        if not self.users[thread]:
            del self.users[thread]
        if not self.users:
            for library in _libraries():
                if library.filepath in self.before:
                    library.set_num_threads(self.before.pop(library.filepath))

    def after_fork(self) -> None:
        """In a forked process, forget the other threads, and the lock, which one of them may have held."""
        self.lock = threading.RLock()
        thread = threading.get_ident()
        self.users = {thread: self.users[thread]} if thread in self.users else {}


_limit = _Limit()
os.register_at_fork(after_in_child=_limit.after_fork)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context manager: within the block, every BLAS that is loaded uses one thread, in all threads of the process."""
    try:
        with _limit.lock:
            _limit.enter()
        yield
    finally:
        with _limit.lock:
            _limit.leave()


def _libraries() -> list[Any]:
    """Return threadpoolctl's controller of each loaded BLAS, and let the calling thread set its number of threads."""
    from threadpoolctl import OpenBLASController

    libraries = _search(len(sys.modules))
    # From version 3.8, threadpoolctl ignores all threads except the one that was the first to set a number of threads.
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)
    return libraries


@lru_cache(1)
def _search(modules: int) -> list[Any]:
    """Return threadpoolctl's controller of each loaded BLAS.

    Because a search takes some milliseconds, it is repeated only if the number of imported modules has changed.
    """
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
