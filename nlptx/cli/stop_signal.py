"""What Ctrl-C, SIGTERM and SIGHUP do: the whole policy.

The first of them ends a command. It does so at once, by an exception that removes temporary files on its way out; a
command whose work so far is worth keeping asks between two pieces of work instead, finishes in order and saves.

Further SIGTERMs and SIGHUPs change nothing, because neither cleaning up nor saving is to be interrupted: service
managers, batch systems and closing terminals all send more than one. A Ctrl-C more than a second after the first
signal forces an end, whatever is going on; an earlier one is taken for the same keystroke, or for the signal that a
shell or make passes on.

A signal that is ignored when the program starts, as nohup and scripts arrange, stays ignored.
"""

from __future__ import annotations

import signal
import time
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# A process that a signal ends has this exit code plus the signal's number.
SIGNALLED = 128
# Seconds after the first signal from which on Ctrl-C forces an end.
_FORCE_AFTER = 1.0


class Terminated(BaseException):
    """SIGTERM or SIGHUP came. Not an Exception, which some reader on the way could take for damage in what it reads."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return f"stopped by {signal.Signals(self.number).name}"


class StopSignal:
    """The first signal to stop that came, if any."""

    def __init__(self) -> None:
        self.number: int | None = None
        self._came = 0.0
        self.waits = False  # whether a signal waits until it is asked for

    def install(self) -> None:
        """Handle the signals from now on; for the main thread of a program that ends with its command."""
        for number in STOP_SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)

    @property
    def exit_code(self) -> int:
        """The exit code of a command that a signal stopped."""
        return SIGNALLED + (self.number or 0)

    def requested(self) -> bool:
        """Tell whether a signal came. From the first call on, a signal waits for the next one."""
        self.waits = True
        return self.number is not None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.number is None:
            self.number, self._came = number, time.monotonic()
            if self.waits:
                return
        elif number != signal.SIGINT or time.monotonic() - self._came < _FORCE_AFTER:
            return
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated(number)
