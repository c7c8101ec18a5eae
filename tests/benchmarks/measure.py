"""Timing in alternating runs, and other functions shared by all benchmarks."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

Work = Callable[[], Any]
Row = dict[str, Any]


@dataclass(frozen=True)
class Bench:
    """The arguments of a benchmark.

    Args:
        data: path of an aclImdb archive, or None if there is none.
        folder: scratch folder, shared by all benchmarks of a run.
        runs: number of times that nlptx and each peer are timed.
    """

    data: Path | None
    folder: Path
    runs: int


def alternate(ours: Work, peer: Work | None, runs: int, outputs: Sequence[Path] = ()) -> tuple[float, float | None]:
    """Return the median time of each function in seconds.

    The runs alternate, so that changes in the speed of the machine affect both functions.

    Args:
        ours, peer: functions to time.
        runs: number of times to run each.
        outputs: files to remove before each run, outside the measured time, because freeing the disk space of a large
            old file may take as long as writing a new one.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for work, kept in zip((ours, peer), times, strict=True):
            if work is not None:
                for path in outputs:
                    path.unlink(missing_ok=True)
                start = time.perf_counter()
                work()
                kept.append(time.perf_counter() - start)
    return statistics.median(times[0]), statistics.median(times[1]) if peer else None


def pair(ours: Work, peer: Work | None, runs: int, outputs: Sequence[Path] = ()) -> dict[str, Any]:
    seconds, other = alternate(ours, peer, runs, outputs)
    return {"seconds": seconds, "peer_seconds": other, "ratio": None if other is None else other / seconds}


def command(*arguments: str, **kwargs: Any) -> Work:
    return lambda: subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kwargs)


def watched(words: Sequence[str], feed: Callable[[IO[bytes]], None] | None = None) -> tuple[float, int]:
    """Run a command; return its time in seconds and its peak memory in megabytes, sampled fifty times a second.

    Args:
        words: the command and its arguments.
        feed: function that writes to the standard input of the command.
    """

    def fill(pipe: IO[bytes]) -> None:
        with pipe:
            if feed:
                feed(pipe)

    peak = 0
    start = time.perf_counter()
    with ThreadPoolExecutor(1) as pool, subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        filled = pool.submit(fill, process.stdin)
        while process.poll() is None:
            peak = max(peak, memory_of(process.pid))
            time.sleep(0.02)
        seconds = time.perf_counter() - start
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    filled.result()
    return seconds, round(peak / 1e6)


def memory_of(process: int) -> int:
    """Return the memory usage of a process and its children in bytes; 0 once the process has exited.

    Memory that the process shares with its children is counted once.
    """
    folder = Path(f"/proc/{process}")
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
        children = (folder / f"task/{process}/children").read_text().split()
    except OSError:
        return 0
    own = sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return own + sum(memory_of(int(child)) for child in children)
