"""Settings for how the C library manages the memory of this process."""

from __future__ import annotations

import resource

# Parameters of mallopt, as defined in malloc.h of glibc.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
# Amount of freed memory, in bytes, above which glibc returns memory to the system.
_TRIM_THRESHOLD = 128 << 20
# Maximum size, in bytes, of an array on the heap: the largest value that glibc accepts.
_MAX_HEAP_ARRAY = 32 << 20


def keep_freed_memory() -> None:
    """Let new arrays reuse the memory of freed arrays, in the entire process.

    By default, glibc returns the memory of a freed large array to the system, and requests memory again for the next
    array. The system zeroes this memory page by page. Returning and zeroing memory would take a quarter of the time
    needed to score texts, and a few percent of the time needed to count words. The function does nothing with C
    libraries other than glibc.
    """
    _set(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD)
    _set(_M_MMAP_THRESHOLD, _MAX_HEAP_ARRAY)


def save_address_space() -> None:
    """Let all threads share one heap if the address space is limited (``ulimit -v``).

    By default glibc reserves 64 MB of address space for the heap of each thread, so a process with an address-space
    limit soon reaches it. If a small allocation then fails, some libraries crash instead of raising a MemoryError. This
    function applies to the entire process; call it before starting threads. The function does nothing with C libraries
    other than glibc.
    """
    if address_space_limit() is not None:
        _set(_M_ARENA_MAX, 1)


def address_space_limit() -> int | None:
    """Return the address-space limit of this process in bytes, or None if there is no limit."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if limit == resource.RLIM_INFINITY else limit


def return_freed_memory() -> None:
    """Return the memory of freed arrays to the system. Call this function after a step that needed a lot of memory.

    Without this call, the process would keep the memory, in pieces that are too small for the arrays of the next step.
    The function does nothing with C libraries other than glibc.
    """
    import ctypes

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return


def _set(parameter: int, value: int) -> None:
    import ctypes  # ctypes is slow to import, and --help does not need it

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(parameter, value)
