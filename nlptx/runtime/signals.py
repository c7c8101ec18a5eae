"""The termination signals, and a block in which they are delayed."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

# Signals sent by a user, the system or a closing terminal to end a program.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_held() -> Iterator[None]:
    """Delay termination signals until the ``with`` block ends. Threads started within the block never receive them."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
