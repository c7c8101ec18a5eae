"""Measures the memory usage and open files of a running process and its children."""

import contextlib
import os
import re
import threading
from pathlib import Path

import pytest
from command import NLPTX
from harness import SCALE, end, members, start

# Size of the larger input divided by the size of the smaller one.
TIMES = 10
MAX_FILES = 64
# Size of the smaller input in bytes. It must fill all pipes, buffers and batches in progress; otherwise, a larger
# input would need more memory even if the memory is bounded.
SIZE = max(3_000_000, round(4_000_000 * SCALE))
needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="needs /proc")


class Watch(threading.Thread):
    """Measures a process up to a hundred times per second, until it has ended.

    ``megabytes`` is the peak resident memory of the process and its children together, with shared memory counted once;
    ``files`` is the maximum number of files that one process had open; ``samples`` is the number of measurements.
    """

    def __init__(self, process):
        super().__init__()
        self.process = process
        self.megabytes, self.files, self.samples = 0.0, 0, 0
        self._ended = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self._ended.set()
        self.join()

    def run(self):
        while not self._ended.wait(0.01):
            self.sample()

    def sample(self):
        """Record the current memory usage and number of open files; return the memory in MB."""
        resident = 0
        for member in members(self.process.pid):
            with contextlib.suppress(OSError):
                resident += _megabytes(member)
                self.files = max(self.files, len(os.listdir(f"/proc/{member}/fd")))
                self.samples += 1
        self.megabytes = max(self.megabytes, resident)
        return resident


def _megabytes(number):
    match = re.search(r"^Pss:\s+(\d+) kB", Path("/proc", str(number), "smaps_rollup").read_text(), re.MULTILINE)
    return int(match[1]) / 1024 if match else 0


def measure(words, tally, text=None, nlptx=NLPTX):
    """Run a command, with the file ``text`` (if any) on standard input, and return its Watch."""
    tally.ran()
    if text is None:
        process = start(*words, nlptx=nlptx)
    else:
        with open(text, "rb") as file:
            process = start(*words, nlptx=nlptx, stdin=file)
    with Watch(process) as watch:
        done = end(process)
    assert done.code == 0, done.stderr
    assert watch.samples
    return watch
