"""Runs nlptx where the address space is limited, and checks what it says when that is too little."""

import re
import sys

import pytest
from command import NLPTX, TRACEBACK

# macOS accepts a limit of the address space and ignores it.
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits the address space")
SHORTAGES = ("out of memory", "no thread can be started")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def limited(megabytes, nlptx=NLPTX):
    """Return the words that start nlptx with an address space of so many MB; the arguments of nlptx follow."""
    return ["bash", "-c", 'ulimit -v "$0" && exec "$@"', str(megabytes << 10), *nlptx]


def options_in(text):
    """Return the long options that a text names."""
    return set(_OPTION.findall(text))


def check_shortage_message(stderr):
    """Fail unless standard error holds one message, which says that memory is short, and nothing else."""
    lines = stderr.splitlines()
    assert lines, "no message"
    assert TRACEBACK not in stderr, stderr
    assert lines[0].startswith("nlptx: error: "), stderr
    assert any(text in lines[0] for text in SHORTAGES), stderr
    assert stderr.count("nlptx:") == 1, stderr
    # The message and its advice: nothing of OpenBLAS, of the dynamic loader or of the interpreter.
    assert len(lines) == 2, stderr
    assert lines[1].startswith("  "), stderr
