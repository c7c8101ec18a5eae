"""Handling of Ctrl-C, SIGTERM and SIGHUP.

The first signal ends a command. Usually, the signal raises an exception immediately, and temporary files are removed
while the exception propagates. A command that can save an unfinished result polls for signals instead, finishes the
current step and saves the result.

Further SIGTERM and SIGHUP signals are ignored, because they must not interrupt cleaning up or saving: service managers,
batch systems and closing terminals send more than one signal. A Ctrl-C more than a second after the first signal always
forces an exit. A Ctrl-C within the first second is ignored, because it may be the same keystroke, passed on by a shell
or by make.

A signal that is ignored when the program starts, for example under nohup, stays ignored.
"""

from __future__ import annotations

import signal
import time
from types import FrameType

from nlptx.runtime.signals import STOP_SIGNALS

# The exit code after a signal is this number plus the signal number.
SIGNALLED = 128
# Ctrl-C forces an exit if it comes at least this many seconds after the first signal.
_FORCE_AFTER = 1.0


class Terminated(BaseException):
    """SIGTERM or SIGHUP was received.

    The class is derived from BaseException, because code that reads files could mistake an Exception for damaged data.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return f"stopped by {signal.Signals(self.number).name}"


class StopNote(str):
    """A note on the exception that a stop signal raised; the note is printed when the command ends.

    Other notes on the exception are not printed, because they may come from Python itself.
    """


class StopSignal:
    """Records the first stop signal that is received, and raises an exception for it unless the command polls."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._received_at = 0.0
        self.is_polled = False  # whether the first signal is only recorded, because the command polls with requested()

    def install(self) -> None:
        """Install the signal handlers.

        Call this method in the main thread, and only in a program that exits when the command ends.
        """
        for number in STOP_SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)

    @property
    def exit_code(self) -> int:
        """Exit code of a command that was stopped by a signal."""
        return SIGNALLED + (self.number or 0)

    def requested(self) -> bool:
        """Return whether a signal was received. After this call, the first signal no longer raises an exception."""
        self.is_polled = True
        return self.number is not None

    def check(self) -> None:
        """If a signal was received, raise its exception again, in case Python ignored the exception.

        Python ignores exceptions in destructors, for example while an object of dask.distributed is being deleted.
        """
        if self.number is not None and not self.is_polled:
            raise _exception(self.number)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.number is None:
            self.number, self._received_at = number, time.monotonic()
            if self.is_polled:
                return
        elif number != signal.SIGINT or time.monotonic() - self._received_at < _FORCE_AFTER:
            return
        raise _exception(number)


def _exception(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else Terminated(number)
