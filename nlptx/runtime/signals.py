"""The termination signals, and a block in which they are delayed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

# Signals sent by a user, the system or a closing terminal to end a program.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_held() -> Iterator[None]:
    """Delay the termination signals of this thread, and all signals with a Python handler, until the block ends.

    Threads and processes started within the block inherit the delay, and keep it after the block. A signal to the
    process is not delayed if another thread, started outside such a block, can receive it.
    """
    handled = {number for number in signal.valid_signals() if callable(signal.getsignal(number))}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, handled.union(STOP_SIGNALS))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
