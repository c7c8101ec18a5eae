"""Parallel workers, prefetching, shared memory, settings of the C library and the BLAS, and radix sort."""
