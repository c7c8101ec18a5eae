"""Determines how much memory this process and its children may still use."""

from __future__ import annotations

from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CONTROL_GROUP = Path("/sys/fs/cgroup")


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
    """Return the free bytes within the container's memory limit.

    Inside a container, the files directly in _CONTROL_GROUP belong to the container's own control group.
    """
    try:
        limit = (_CONTROL_GROUP / "memory.max").read_text().strip()
        used = (_CONTROL_GROUP / "memory.current").read_text().strip()
    except OSError:
        return None
    return max(int(limit) - int(used), 0) if limit.isdecimal() and used.isdecimal() else None
