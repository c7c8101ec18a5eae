"""Loads a BLAS library only if there is enough memory, and makes the library allocate all of its buffers immediately.

OpenBLAS allocates a buffer when it is loaded, and another one whenever the number of threads that multiply matrices at
the same time reaches a new maximum. If there is no memory for a buffer, OpenBLAS up to version 0.3.30 retries forever.
While OpenBLAS is being loaded, no signal can interrupt the retries, because the interpreter lock is held. Later
versions of OpenBLAS print a message and end the process. To prevent both the retries and the exit, the functions of
this module check whether there is enough memory before the BLAS requests it, and raise a MemoryError if there is not.
"""

from __future__ import annotations

import importlib
import mmap
import os
import sys

# Environment variables that a BLAS reads when it is loaded. All parallel work is done by the workers of this program,
# so BLAS threads would only waste memory for their stacks and buffers.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
# Address space, in bytes, that is needed to load a module with one thread, including the first buffer. The values in
# this file were measured with the NumPy and SciPy wheels on x86-64, and include a margin.
_ADDRESS_SPACE = {"numpy": 104 << 20, "scipy.special": 104 << 20}
# Address space, in bytes, that is needed for each further buffer.
_BUFFER = 36 << 20


def use_one_blas_thread() -> None:
    """Limit every BLAS that this process loads from now on to a single thread."""
    os.environ.update(ONE_THREAD)


def load_blas(module: str, threads: int) -> None:
    """Import a module, and make its BLAS allocate its buffers. Do nothing if the module has already been imported.

    Args:
        module: ``numpy`` or ``scipy.special``.
        threads: number of threads that will multiply matrices at the same time.

    Raises:
        MemoryError: there is not enough address space.
    """
    if module in sys.modules:
        return
    before = set(_openblas_files())
    _check_address_space(_ADDRESS_SPACE[module])
    importlib.import_module(module)
    for path in set(_openblas_files()) - before:
        _map_buffers(path, threads)


def _check_address_space(size: int) -> None:
    """Raise MemoryError if ``size`` bytes of address space are not available."""
    try:
        # OpenBLAS also allocates its buffers with mmap
        mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
    except OSError as error:
        raise MemoryError(f"no room for {size >> 20} MB") from error


def _openblas_files() -> list[str]:
    """Return the paths of all OpenBLAS libraries that are loaded."""
    from threadpoolctl import threadpool_info

    return [library["filepath"] for library in threadpool_info() if library["internal_api"] == "openblas"]


def _map_buffers(path: str, count: int) -> None:
    """Make an OpenBLAS library allocate ``count`` buffers, which it keeps for later multiplications."""
    import ctypes  # ctypes is slow to import, and --help does not need it

    library = ctypes.CDLL(path)
    if not hasattr(library, "blas_memory_alloc"):
        return  # this build of OpenBLAS does not export the allocation functions
    allocate, free = library.blas_memory_alloc, library.blas_memory_free
    allocate.argtypes, allocate.restype = [ctypes.c_int], ctypes.c_void_p
    free.argtypes, free.restype = [ctypes.c_void_p], None
    _check_address_space(count * _BUFFER)
    for buffer in [allocate(0) for _ in range(count)]:
        free(buffer)
