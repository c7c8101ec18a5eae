"""Stopping work in an orderly way when the user, or the system, asks for it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nlptx.cli.main import SIGNALLED


class StopSignal:
    """Whether somebody asked to stop: call it to know.

    Until it is called for the first time there is nothing worth an orderly end, and a signal acts at once; so does
    a second one later.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._asked = False

    def __call__(self) -> bool:
        self._asked = True
        return self.signal is not None

    @property
    def exit_code(self) -> int:
        """The exit code of a command that was stopped."""
        return SIGNALLED + (self.signal or 0)

    def _note(self, number: int) -> bool:
        """Take note of a signal; tell whether it can wait."""
        can_wait = self._asked and self.signal is None
        self.signal = number
        return can_wait


@contextmanager
def catch_stop_signals() -> Iterator[StopSignal]:
    """Turn the first Ctrl-C, SIGTERM or SIGHUP within a block into a wish to stop."""
    stop = StopSignal()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def note(number: int, frame: FrameType | None) -> None:
        usual = before[signal.Signals(number)]
        if not stop._note(number) and callable(usual):
            usual(number, frame)

    # A command in the background of a script is to ignore Ctrl-C, and goes on doing so.
    caught = [number for number, usual in before.items() if callable(usual)]
    for number in caught:
        signal.signal(number, note)
    try:
        yield stop
    finally:
        for number in caught:
            signal.signal(number, before[number])
