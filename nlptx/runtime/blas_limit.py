"""Limits every BLAS to one thread as long as any thread of this process needs it.

The number of BLAS threads belongs to the process, not to a thread. So if several threads limit it at the same time, it
may be restored only when the last of them has finished. threadpoolctl itself ignores (from version 3.8) or mixes up
(before) limits that overlap in different threads; therefore, this module counts the users of the limit.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _Limit:
    """Number of blocks that need the limit, and number of threads of each BLAS before the first of them, by path."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.before: dict[str, int] = {}


_limit = _Limit()


def _renew_lock() -> None:
    """Replace the lock in a forked process. Another thread may have held it, and that thread was not copied."""
    _limit.lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context manager: within the block, every BLAS that is loaded uses one thread, in all threads of the process."""
    with _limit.lock:
        for library in _libraries():
            _limit.before.setdefault(library.filepath, library.num_threads)
            library.set_num_threads(1)
        _limit.users += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.users -= 1
            if not _limit.users:
                for library in _libraries():
                    if library.filepath in _limit.before:
                        library.set_num_threads(_limit.before[library.filepath])
                _limit.before.clear()


def _libraries() -> list[Any]:
    """Return threadpoolctl's controller of each BLAS that is loaded. The calling thread may set its threads."""
    from threadpoolctl import OpenBLASController, ThreadpoolController

    found = [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]
    # From version 3.8, threadpoolctl ignores all threads except the one that was the first to set a number of threads.
    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)
    return found
