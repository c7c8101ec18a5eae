"""The termination signals, and a block in which they are delayed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

# Signals sent by a user, the system or a closing terminal to end a program.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_held() -> Iterator[None]:
    """Delay the termination signals of this thread until the ``with`` block ends.

    Threads and processes started within the block inherit the delay, and keep it after the block. A signal to the
    process is not delayed if another thread, started outside such a block, can receive it.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
