"""Loads a BLAS where memory is known to suffice for it, and has it take all the memory it will ever need.

OpenBLAS maps a buffer when it is loaded, and another whenever more threads multiply at the same time than ever before.
If there is no memory for a buffer, versions up to 0.3.30 try again for ever, and a library that is being loaded holds
the interpreter's lock, so that no signal ends that; later versions print a line of their own and exit. Here both
become a MemoryError, which is raised before the BLAS asks for memory.
"""

from __future__ import annotations

import importlib
import mmap
import os
import sys

# Read by each BLAS when it is loaded. Parallel work is done by workers of this program, so threads of a BLAS would only
# take memory: a stack and a buffer each.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# Address space that loading takes with one thread, its first buffer included, and what a further buffer takes: as
# measured with the wheels of NumPy and SciPy on x86-64, and some more.
_ROOM = {"numpy": 96 << 20, "scipy.linalg": 100 << 20}
_BUFFER = 36 << 20


def use_one_blas_thread() -> None:
    """Have every BLAS that this process loads from now on start without threads."""
    os.environ.update(ONE_THREAD)


def load_blas(module: str, threads: int) -> None:
    """Import a module, and with it its BLAS.

    Does nothing if the module has been imported before.

    Args:
        module: ``numpy`` or ``scipy.linalg``.
        threads: number of threads that will multiply at the same time.

    Raises:
        MemoryError: there is no room for it.
    """
    if module in sys.modules:
        return
    before = set(_openblas_files())
    _check_room(_ROOM[module])
    importlib.import_module(module)
    for path in set(_openblas_files()) - before:
        _map_buffers(path, threads)


def _check_room(size: int) -> None:
    """Raise MemoryError if the address space has no room for ``size`` bytes."""
    try:
        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()  # as a BLAS does
    except OSError as error:
        raise MemoryError(f"no room for {size >> 20} MB") from error


def _openblas_files() -> list[str]:
    """Return the path of every OpenBLAS that is loaded."""
    from threadpoolctl import threadpool_info

    return [library["filepath"] for library in threadpool_info() if library["internal_api"] == "openblas"]


def _map_buffers(path: str, count: int) -> None:
    """Have an OpenBLAS map ``count`` buffers, which it keeps for later products."""
    import ctypes  # slow to import, and --help does without

    library = ctypes.CDLL(path)
    if not hasattr(library, "blas_memory_alloc"):
        return  # it keeps its own functions to itself
    allocate, free = library.blas_memory_alloc, library.blas_memory_free
    allocate.argtypes, allocate.restype = [ctypes.c_int], ctypes.c_void_p
    free.argtypes, free.restype = [ctypes.c_void_p], None
    _check_room(count * _BUFFER)
    for buffer in [allocate(0) for _ in range(count)]:
        free(buffer)
