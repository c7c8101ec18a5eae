"""Timing one thing beside another, run in turn; what every benchmark here shares."""

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
    """What a benchmark is given.

    Args:
        data: an aclImdb archive, or None where there is none.
        folder: a scratch folder, shared by all benchmarks of a run.
        runs: how often each thing is timed.
    """

    data: Path | None
    folder: Path
    runs: int


def alternate(ours: Work, peer: Work | None, runs: int, outputs: Sequence[Path] = ()) -> tuple[float, float | None]:
    """Return the median seconds of both, run in turn so that a drifting machine hits both alike.

    Args:
        ours, peer: what is timed.
        runs: how often.
        outputs: files that are removed before each run, outside its time: a disk may take as long to free a large file
            that is already on it as to write a new one.
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
    """Run a command; return its seconds and, looked at fifty times a second, its peak megabytes.

    Args:
        words: of the command.
        feed: writes its standard input.
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
    """Return the bytes a process and those it started take now, memory they share counted once; 0 if it has ended."""
    folder = Path(f"/proc/{process}")
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
        children = (folder / f"task/{process}/children").read_text().split()
    except OSError:
        return 0
    own = sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
    return own + sum(memory_of(int(child)) for child in children)
