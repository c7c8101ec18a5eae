"""Determines how many cores and how much memory this process and its children may use, and how much they have used.

Inside a container, the files directly in _CONTROL_GROUP belong to the container's own control group.
"""

from __future__ import annotations

import math
import os
import resource
import sys
from pathlib import Path
from typing import Any

_MEMINFO = Path("/proc/meminfo")
_CONTROL_GROUP = Path("/sys/fs/cgroup")
# Maximum number of workers on a machine with fewer cores.
_MAX_JOBS = 32


def available_cores() -> int:
    """Return the number of cores, at least 1: those assigned to this process, or fewer if a container limits its time.

    A container that may use the time of 1.5 cores has 2 cores.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # The time in microseconds that all processes may use in a period, or "max"; and the length of the period.
    quota, _, period = _content("cpu.max").partition(" ")
    if quota.isdecimal() and period.isdecimal() and int(period):
        cores = min(cores, math.ceil(int(quota) / int(period)))
    return max(cores, 1)


def useful_jobs(jobs: int | None) -> int:
    """Return the number of workers to use if ``jobs`` are asked for; None means one per core.

    Workers beyond the number of cores gain nothing, but need memory, and OpenBLAS supports only a limited number of
    threads. Small numbers are not changed, even if they exceed the number of cores.
    """
    cores = available_cores()
    return min(jobs or cores, max(cores, _MAX_JOBS))


def available_memory() -> int | None:
    """Return the free memory of the machine or of the container, whichever is less, in bytes; None if unknown."""
    free = [number for number in (_of_machine(), _of_control_group()) if number is not None]
    return min(free) if free else None


def _of_machine() -> int | None:
    try:
        lines = _MEMINFO.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")), None)


def _of_control_group() -> int | None:
    """Return the free bytes within the container's memory limit."""
    limit, used = _content("memory.max"), _content("memory.current")
    if not (limit.isdecimal() and used.isdecimal()):
        return None
    # The memory in use includes copies of files that were read. The system frees those that are inactive when needed.
    cached = [line.split()[1] for line in _content("memory.stat").splitlines() if line.startswith("inactive_file ")]
    return max(int(limit) - int(used) + sum(map(int, cached)), 0)


def _content(name: str) -> str:
    """Return the content of a file of the control group; an empty string if it cannot be read."""
    try:
        return (_CONTROL_GROUP / name).read_text().strip()
    except OSError:
        return ""


def peak_memory() -> int:
    """Return the peak resident memory of this process or of one of its workers, whichever is larger, in MB."""
    per_unit = 1 if sys.platform == "darwin" else 1024
    largest = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(largest * per_unit / 1e6)


def cost(seconds: float) -> dict[str, Any]:
    """Return the time of a command, and its peak memory so far, as JSON values."""
    return {"seconds": round(seconds, 3), "peak_memory_mb": peak_memory()}
