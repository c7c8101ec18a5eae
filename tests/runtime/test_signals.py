"""Termination signals can be delayed."""

import signal
import threading

import pytest

from nlptx.runtime.signals import STOP_SIGNALS, signals_held


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_is_delayed_until_the_block_ends(number):
    received = []
    handler = signal.signal(number, lambda number, frame: received.append(number))
    try:
        with signals_held():
            signal.pthread_kill(threading.get_ident(), number)
            assert received == []
        assert received == [number]
    finally:
        signal.signal(number, handler)


def test_signals_with_a_python_handler_are_delayed_too():
    arrived = []
    before = signal.signal(signal.SIGALRM, lambda *_: arrived.append(1))
    try:
        with signals_held():
            signal.raise_signal(signal.SIGALRM)
            assert not arrived
        assert arrived
    finally:
        signal.signal(signal.SIGALRM, before)
