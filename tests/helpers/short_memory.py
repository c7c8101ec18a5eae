"""Runs nlptx with a limited address space, and checks its out-of-memory messages."""

import re
import sys

import pytest
from command import NLPTX, TRACEBACK

# macOS accepts a limit on the address space but ignores it.
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the address space")
SHORTAGES = ("out of memory", "no thread can be started")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def limited(megabytes, nlptx=NLPTX):
    """Return a command, without arguments, that starts nlptx with an address space of ``megabytes`` MB."""
    return ["bash", "-c", 'ulimit -v "$0" && exec "$@"', str(megabytes << 10), *nlptx]


def options_in(text):
    """Return the long options that occur in a text."""
    return set(_OPTION.findall(text))


def check_shortage_message(stderr):
    """Fail unless standard error consists of exactly one out-of-memory message."""
    lines = stderr.splitlines()
    assert lines, "no message"
    assert TRACEBACK not in stderr, stderr
    assert lines[0].startswith("nlptx: error: "), stderr
    assert any(text in lines[0] for text in SHORTAGES), stderr
    assert stderr.count("nlptx:") == 1, stderr
    # Expect only the message and its advice, and nothing from OpenBLAS, the dynamic loader or the interpreter.
    assert len(lines) == 2, stderr
    assert lines[1].startswith("  "), stderr
