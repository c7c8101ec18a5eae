"""How the C library reuses freed memory."""

from __future__ import annotations

import ctypes

# From glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT = 128 << 20
# The largest value that glibc accepts.
_LARGEST_ON_HEAP = 32 << 20


def keep_freed_memory() -> None:
    """Let new arrays reuse the memory of freed ones, in the whole process.

    By default glibc returns the memory of large arrays to the system and requests it again, zeroed page by page, which
    takes a quarter of the time of scoring and a few percent of counting. Does nothing with another C library.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_M_TRIM_THRESHOLD, _KEPT)
    mallopt(_M_MMAP_THRESHOLD, _LARGEST_ON_HEAP)
