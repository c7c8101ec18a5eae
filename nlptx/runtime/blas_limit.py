"""Limits every BLAS to one thread as long as any thread of this process needs this limit.

The number of BLAS threads is a setting of the process, not of a thread. So if several threads set a limit at the same
time, the original number must not be restored until the last of these threads has finished. threadpoolctl does not
support overlapping limits of different threads: version 3.8 and later versions ignore the limits of all threads except
the first, and earlier versions restore the original number too early. Therefore, this module counts the holds on the
limit.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import lru_cache
from typing import Any


class Hold:
    """Keeps the limit in place, from :meth:`BlasLimit.acquire` to :meth:`BlasLimit.release`.

    Ctrl-C can prevent the call of ``release``. In that case, the hold is released when it is garbage-collected.
    """

    def __init__(self, limit: BlasLimit, thread: int) -> None:
        self.limit, self.thread, self.is_released = limit, thread, False

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.limit.release(self)


class BlasLimit:
    """Counts the holds: between :meth:`acquire` and :meth:`release`, every loaded BLAS uses one thread.

    Attributes:
        lock: lock for the other attributes. The lock is reentrant, because garbage collection can run while a thread
            holds the lock, and may end a generator that calls :meth:`release`.
        users: number of holds of each thread, by thread identifier.
        before: number of threads of each BLAS before the limit was set, by the path of the library.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users: dict[int, int] = {}
        self.before: dict[str, int] = {}

    def acquire(self) -> Hold:
        """Limit every BLAS of the process to one thread until the returned hold, and all others, are released."""
        thread = threading.get_ident()
        hold = Hold(self, thread)
        try:
            with self.lock:
                is_first = not self.users
                self.users[thread] = self.users.get(thread, 0) + 1
                for library in _libraries():
                    count = library.num_threads
                    # A BLAS may still use one thread because an earlier call of `release` was interrupted before it
                    # restored the original number. In that case, the original number in `before` is kept.
                    if library.filepath not in self.before or (is_first and count != 1):
                        self.before[library.filepath] = count
                    library.set_num_threads(1)
        except BaseException:  # for example Ctrl-C
            self.release(hold)
            raise
        return hold

    def release(self, hold: Hold) -> None:
        """Release a hold. After the last one, every BLAS gets back its original number of threads."""
        with self.lock:
            if hold.is_released:
                return
            hold.is_released, thread = True, hold.thread
            self.users[thread] = self.users.get(thread, 1) - 1
            if not self.users[thread]:
                del self.users[thread]
            if not self.users:
                for library in _libraries():
                    if library.filepath in self.before:
                        library.set_num_threads(self.before.pop(library.filepath))
                _let_any_thread_set_limits()

    def after_fork(self) -> None:
        """In a forked process, forget the users in other threads, and replace the lock, which may be locked."""
        self.lock = threading.RLock()
        thread = threading.get_ident()
        self.users = {thread: self.users[thread]} if thread in self.users else {}


LIMIT = BlasLimit()
os.register_at_fork(after_in_child=LIMIT.after_fork)


def _libraries() -> list[Any]:
    """Return threadpoolctl's controller of each loaded BLAS, and let the calling thread change the BLAS settings."""
    libraries = _search(len(sys.modules))
    _let_any_thread_set_limits()
    return libraries


def _let_any_thread_set_limits() -> None:
    # Without this call, threadpoolctl from version 3.8 on accepts limits only from the first thread that set one.
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


@lru_cache(1)
def _search(modules: int) -> list[Any]:
    """Return threadpoolctl's controller of each loaded BLAS.

    Because a search takes a few milliseconds, it is repeated only if the number of imported modules has changed.
    """
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
