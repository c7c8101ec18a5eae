"""How the C library keeps memory that was freed."""

from __future__ import annotations

import ctypes

# From glibc's malloc.h.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT = 128 << 20
# The largest that glibc takes.
_LARGEST_ON_HEAP = 32 << 20


def keep_freed_memory() -> None:
    """Let the arrays of one pass, or of one part of a text, take the place of the last one's.

    By default glibc gives their memory back to the system and gets it again, zeroed page by page: a quarter of
    the time of scoring, some hundredths of that of counting. For the whole process; does nothing with another C
    library.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_M_TRIM_THRESHOLD, _KEPT)
    mallopt(_M_MMAP_THRESHOLD, _LARGEST_ON_HEAP)
