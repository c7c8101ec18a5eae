"""Parallel workers, prefetching, shared memory, available cores and memory, the C library, BLAS, hashing, sorting."""
