"""Watches what a running process and those it started take: memory, and open files."""

import contextlib
import os
import re
import threading
from pathlib import Path

import pytest
from command import NLPTX
from harness import SCALE, end, members, start, torture

# How many times as large the larger input is.
TIMES = 16
MOST_FILES = 64
# Bytes of the smaller input: more than is read ahead and under way.
_LEAST = 2_000_000
AMOUNTS = [pytest.param(_LEAST, id="quick"), torture(max(_LEAST, round(4_000_000 * SCALE)), id="full")]
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="no /proc to look into")


class Watch(threading.Thread):
    """Looks up to a hundred times a second until the process has ended.

    ``megabytes`` is the most resident memory of all its processes together, what they share counted once, ``files``
    the most files that one of them had open at a time, and ``looks`` how often something was seen.
    """

    def __init__(self, process):
        super().__init__()
        self.process = process
        self.megabytes, self.files, self.looks = 0.0, 0, 0
        self._ended = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self.join()

    def run(self):
        while not self._ended.wait(0.01):
            self.look()

    def look(self):
        """Note what is taken now."""
        resident = 0
        for member in members(self.process.pid):
            with contextlib.suppress(OSError):
                resident += _megabytes(member)
                self.files = max(self.files, len(os.listdir(f"/proc/{member}/fd")))
                self.looks += 1
        self.megabytes = max(self.megabytes, resident)
        return resident


def _megabytes(number):
    found = re.search(r"^Pss:\s+(\d+) kB", Path("/proc", str(number), "smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) / 1024 if found else 0


def measure(words, tally, text=None, nlptx=NLPTX):
    """Run a command, with a file or with ``text`` on standard input, and return what it took."""
    tally.ran()
    if text is None:
        process = start(*words, nlptx=nlptx)
    else:
        with open(text, "rb") as file:
            process = start(*words, nlptx=nlptx, stdin=file)
    with Watch(process) as watch:
        done = end(process)
    assert done.code == 0, done.stderr
    assert watch.looks > 10
    return watch
